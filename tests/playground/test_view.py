"""A view has the keys of the links, and its strategies are those of the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import OptionError, PanmatchError, ThresholdError
from panmatch.playground import STRATEGIES, View
from panmatch.spec import parse_matcher

# Short links leave them out, so they can never change.
DEFAULTS = {
    "strategy": "one-to-one/optimal",
    "compared": ["one-to-one/optimal", "many-to-one/merge/seed", "one-to-many/best"],
    "threshold": 0.5,
    "cut": None,
    "regions": False,
    "parts": False,
    "background": "image",
    "voronoi": False,
    "areas": "raster",
    "curves": ["pq"],
    "grid": False,
    "table": "pq",
    "axis": 0,
    "slice": None,
}


def test_defaults_are_those_of_the_links() -> None:
    assert View().to_dict() == DEFAULTS
    assert View.from_dict({}) == View.from_dict(DEFAULTS) == View()


def test_a_view_reads_what_it_writes() -> None:
    view = View(
        strategy="union",
        compared=("union", "same-id"),
        threshold=0.1 + 0.2,
        regions=True,
        parts=True,
        background="none",
        voronoi=True,
        curves=("ap", "sq", "rq"),
        grid=True,
        table="rq",
        axis=2,
        slice=7,
    )
    assert View.from_dict(view.to_dict()) == view
    assert view.shown_strategies == ("union", "same-id")


def test_areas_may_be_analytic() -> None:
    view = View(areas="analytic", voronoi=True)
    assert View.from_dict(view.to_dict()) == view


def test_nothing_need_be_compared_or_drawn() -> None:
    view = View.from_dict({"compared": [], "curves": []})
    assert (view.compared, view.curves) == ((), ())


def test_a_whole_number_is_a_threshold() -> None:
    assert type(View(threshold=0).threshold) is float


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], r"^view=\[\] must be a dictionary or an instance of View\.$"),
        (
            {"treshold": 0.5},
            r"^the key 'treshold' of view is not known; did you mean 'threshold'\? Accepted: strat",
        ),
        (
            {"strategy": "one-to-one"},
            r"^strategy='one-to-one' is not known; did you mean 'one-to-one/greedy'\? Accepted: on",
        ),
        ({"strategy": None}, r"^strategy=None is not known\. Accepted: one-to-one/optimal, one-to"),
        ({"strategy": "a" * 99}, r"^strategy='a{59}… is not known\. Accepted: one-to-one/optimal"),
        (
            {"compared": "same-id"},
            r"^compared='same-id' must be a valid list\.$",
        ),
        (
            {"compared": ["same-id", "same"]},
            r"^compared\[1\]='same' is not known; did you mean 'same-id'\? Accepted: one-to-one",
        ),
        ({"compared": ["same-id", "same-id"]}, r"^compared: 'same-id' is listed twice\.$"),
        (
            {"curves": ["pq", "autc"]},
            r"^curves\[1\]='autc' is not known\. Accepted: pq, sq, rq, ap\.$",
        ),
        ({"curves": ["pq", "pq"]}, r"^curves: 'pq' is listed twice\.$"),
        (
            {"threshold": "0.5"},
            r"^threshold='0\.5' must be a valid number\.$",
        ),
        (
            {"threshold": True},
            r"^threshold=True must be a valid number\.$",
        ),
        *(
            ({key: 1}, rf"^{key}=1 must be a valid boolean\.$")
            for key in ("regions", "parts", "voronoi", "grid")
        ),
        ({"background": "all"}, r"^background='all' is not known\. Accepted: image, none\.$"),
        ({"areas": "exact"}, r"^areas='exact' is not known.* Accepted: raster, analytic\.$"),
        ({"table": "ap"}, r"^table='ap' is not known.* Accepted: pq, sq, rq\.$"),
        ({"axis": 3}, r"^axis=3 must be less than or equal to 2\.$"),
        ({"axis": 1.0}, r"^axis=1\.0 must be a valid integer\.$"),
        ({"axis": False}, r"^axis=False must be a valid integer\.$"),
        (
            {"slice": -1},
            r"^slice=-1 must be greater than or equal to 0\.$",
        ),
        (
            {"strategy": "union"},
            r"^strategy='union' matches everything predicted in a Voronoi region, so it needs",
        ),
        (
            {"compared": ["same-id", "union"]},
            r"^compared='union' matches everything predicted in a Voronoi region, so it needs",
        ),
        (
            {"areas": "analytic", "regions": True},
            r"^areas='analytic' works only for whole discs: pass regions=false, or areas='raster'",
        ),
        (
            {"areas": "analytic", "parts": True},
            r"^areas='analytic' works only for whole discs: pass parts=false, or areas='raster'\.$",
        ),
    ],
)
def test_what_is_no_view_is_refused_by_key(given: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        View.from_dict(given)


@pytest.mark.parametrize("threshold", [1, 1.0, -0.1])
def test_thresholds_end_below_1(threshold: float) -> None:
    with pytest.raises(ThresholdError, match=rf"^threshold={float(threshold)} is outside \[0, 1\)"):
        View(threshold=threshold)


@pytest.mark.parametrize("key", ["regions", "strategy", "threshold"])
def test_null_is_no_value_of_most_keys(key: str) -> None:
    with pytest.raises(PanmatchError, match=rf"^{key}=None"):
        View.from_dict({key: None})


def test_all_strategies_of_the_contract_are_listed() -> None:
    assert list(STRATEGIES) == [
        "one-to-one/optimal",
        "one-to-one/optimal/parts",
        "one-to-one/greedy",
        "many-to-one/merge/seed",
        "many-to-one/merge/edge",
        "many-to-one/optimal/seed",
        "many-to-one/optimal/seed/parts",
        "many-to-one/optimal/edge",
        "many-to-one/optimal/edge/parts",
        "one-to-many/best",
        "one-to-many/optimal",
        "one-to-many/optimal/parts",
        "same-id",
        "union",
    ]
    assert [name for name, one in STRATEGIES.items() if one.needs_regions] == ["union"]


@pytest.mark.parametrize("name", STRATEGIES)
def test_id_object_expression_and_spec_of_a_strategy_mean_the_same(name: str) -> None:
    strategy = STRATEGIES[name]
    assert "/".join([strategy.name, *strategy.options.values()]) == name
    assert eval(strategy.python, {"pm": pm}) == strategy
    assert parse_matcher({"strategy": strategy.name, **strategy.options}).strategy == strategy


def test_strategies_have_labels_sentences_and_lines_of_their_own() -> None:
    labels, abouts, dashes = (
        [getattr(strategy, name) for strategy in STRATEGIES.values()]
        for name in ("label", "about", "dash")
    )
    assert len(set(labels)) == len(set(abouts)) == len(set(dashes)) == len(STRATEGIES)
    assert STRATEGIES["many-to-one/merge/seed"].label == "many-to-one (merge, seed)"
    assert all(about.endswith(".") and about.count(".") == 1 for about in abouts)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_runs_on_predictions_cut_by_voronoi_regions(name: str) -> None:
    image = np.array([[1, 1, 0, 0, 2, 2]])
    cut = pm.count_region_overlaps(image, image)
    assert pm.match(cut, STRATEGIES[name].without_parts()).tally.tp == 2
