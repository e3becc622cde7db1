"""`Result.plot`: all figures of a result, and what images it is given are read like."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import OptionError, ThresholdError
from panmatch.report import ResultPlots, plot_grid
from panmatch.report._matched_class import match_class
from panmatch.spec import as_spec
from tests.report.results import CASES, made, row, two_classes

REFERENCE, PREDICTION = (row(text) for text in CASES["a"])


def test_every_figure_is_that_of_its_function() -> None:
    result = made()
    plot = result.plot
    assert isinstance(plot, ResultPlots)
    assert plot.curve(quantity="sq", strategies="one-to-one").axes[0].get_ylabel() == "SQ"
    assert len(plot.grid(thresholds=0.3, models="").axes[0].texts) == 3
    assert plot.sizes(bins=[2, 11], threshold=0.3).axes[0].get_xticklabels()[0].get_text() == (
        "2–11\nn = 6"
    )
    graph = plot.matching(
        reference=REFERENCE, prediction=PREDICTION, strategy="many-to-one", threshold=0.1
    )
    assert graph.axes[0].get_title().startswith("many-to-one")
    assert graph.axes[0].get_xlabel().startswith("τ = 0.1:  TP 2   FP 1   FN 1")
    scene = plot.scene(reference=REFERENCE, prediction=PREDICTION, zoom=False)
    assert scene.axes[0].get_xlabel().startswith("τ = 0.3:  TP 2   FP 2   FN 1")
    assert scene.axes[0].get_xlim() == (-0.5, 21.5)


@pytest.mark.parametrize("method", ["curve", "grid", "sizes", "matching", "scene"])
def test_every_figure_has_the_width_that_is_asked_for(method: str) -> None:
    images: Any = {"reference": REFERENCE, "prediction": PREDICTION}
    options: Any = images if method in ("matching", "scene") else {}
    for width, inches in (("single", 3.5), ("double", 7.2), (5, 5.0)):
        figure = getattr(made().plot, method)(**options, width=width)
        assert figure.get_size_inches()[0] == inches
    with pytest.raises(OptionError, match="width='triple' is not known"):
        getattr(made().plot, method)(**options, width="triple")


SPEC = {
    "classes": {"cell": {"labels": "1-4"}, "lesion": {"labels": [5, 6], "instances": "components"}},
    "void": 9,
    "matching": ["one-to-one", {"strategy": "many-to-one", "regions": True}],
    "thresholds": [0.1, 0.5],
}


@pytest.mark.parametrize("name", ["cell", "lesion"])
@pytest.mark.parametrize("strategy", ["one-to-one", "many-to-one"])
def test_the_matching_is_the_one_that_was_evaluated(name: str, strategy: str) -> None:
    rng = np.random.default_rng(3)
    reference = rng.integers(0, 7, (12, 14)).repeat(3, axis=0).repeat(3, axis=1)
    prediction = np.where(rng.random(reference.shape) < 0.8, reference, 0)
    reference[:5, :5] = 9
    spec = as_spec(SPEC)
    mask = np.zeros(reference.shape, bool)
    mask[20:, 30:] = True
    result = pm.evaluate(
        reference=reference, prediction=prediction, spec=spec, void=mask, spacing=(1, 2)
    )
    for threshold in (0.1, 0.5):
        found = match_class(
            spec, reference=reference, prediction=prediction, class_name=name,
            strategy=strategy, threshold=threshold, spacing=(1, 2), void=mask,
        )  # fmt: skip
        scores = result.scores
        wanted = (scores["class"] == name) & (scores["strategy"] == strategy)
        (expected,) = scores[wanted & (scores["threshold"] == threshold)].to_dict("records")
        tally = found.matching.tally
        assert (tally.tp, tally.fp, tally.fn) == (expected["tp"], expected["fp"], expected["fn"])
        assert tally.pq == expected["pq"]
        assert set(found.matching.overlap.ref_ids.tolist()) <= set(np.unique(found.reference))


def test_masked_references_bring_their_void() -> None:
    masked = np.ma.masked_array(REFERENCE, mask=REFERENCE == 2)
    found = match_class(as_spec({}), reference=masked, prediction=PREDICTION)
    expected = pm.evaluate(reference=masked, prediction=PREDICTION).scores.iloc[0]
    assert (found.matching.tally.fn, found.matching.tally.fp) == (expected["fn"], expected["fp"])
    assert 2 not in found.matching.overlap.ref_ids


def test_parts_are_read_as_they_were_evaluated() -> None:
    spec = as_spec({"classes": {"cell": {"parts": [1, 2]}}, "matching": "one-to-one"})
    parts = np.where(REFERENCE > 0, 1 + (np.arange(22) % 2), 0)
    images: Any = {"reference": REFERENCE, "prediction": REFERENCE, "reference_parts": parts,
              "prediction_parts": 3 * (parts > 0) - parts}  # fmt: skip
    result = pm.evaluate(**images, spec=spec)
    figure = result.plot.matching(**images)
    part_pq = result.scores["part_pq"][0]
    assert part_pq < 0.5
    assert figure.axes[0].get_xlabel().endswith(f"PQ 1.000   PartPQ {part_pq:.3f}")


def test_categories_of_panoptic_images_are_classes() -> None:
    kinds = [pm.SegmentClass(1, "cell"), pm.SegmentClass(2)]
    side = pm.from_maps([[1, 1, 2]], [[1, 1, 2]], kinds)
    evaluator = pm.Evaluator({"encoding": "coco"})
    evaluator.update(reference=side, prediction=side)
    plot = evaluator.compute().plot
    scene = plot.scene(reference=side, prediction=side, class_name="2", zoom=False)
    assert [tuple(patch.get_path().get_extents().x0 for patch in scene.axes[0].patches)] == [
        (1.5, 1.5)
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "class_name is missing: there are 2 classes, 'cell', 'lesion'. Pass one."),
        ({"class_name": "cel"}, "class_name='cel' is not known; did you mean 'cell'? Accepted: "
         "'cell', 'lesion'."),
        ({"class_name": "cell", "strategy": "one-to-oen"}, "strategy='one-to-oen' is not known; "
         "did you mean 'one-to-one'? Accepted: 'one-to-one', 'one-to-one (optimal)', "
         "'many-to-one', 'many-to-one (merge, seed)', 'many-to-one (optimal, seed)'."),
        ({"class_name": "cell", "strategy": "many-to-one"}, "strategy='many-to-one' is ambiguous: "
         "it can be any of 'many-to-one (merge, seed)', 'many-to-one (optimal, seed)'. Pass one of "
         "these."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["matching", "scene"])
def test_names_that_are_not_there_are_errors(method: str, options: Any, message: str) -> None:
    several = ["one-to-one", "many-to-one", {"strategy": "many-to-one", "solver": "optimal"}]
    plot = two_classes(matching=several).plot
    reference, prediction = (row(text) for text in CASES["b"])
    with pytest.raises(OptionError) as caught:
        getattr(plot, method)(reference=reference, prediction=prediction, **options)
    assert str(caught.value) == message
    named = {"class_name": "cell", "strategy": "many-to-one (optimal, seed)"}
    figure = getattr(plot, method)(reference=reference, prediction=prediction, **named)
    assert figure.axes[0].get_title().startswith("many-to-one (optimal, seed)")


def test_thresholds_outside_their_range_are_errors() -> None:
    with pytest.raises(ThresholdError, match="threshold"):
        made().plot.matching(reference=REFERENCE, prediction=PREDICTION, threshold=1.0)


def test_methods_have_the_signature_and_the_help_of_their_functions() -> None:
    plot = made().plot
    signature = inspect.signature(plot_grid)
    expected = [*signature.parameters.values()][1:]
    assert [*inspect.signature(plot.grid).parameters.values()] == expected
    assert plot.grid.__doc__ == plot_grid.__doc__
    assert ResultPlots.grid is plot_grid


def test_libraries_of_figures_and_pages_are_not_loaded_by_the_import() -> None:
    code = """
import sys
import panmatch.report
heavy = {"matplotlib", "plotly", "jinja2", "PIL", "skimage", "pandas"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize(
    ("library", "call", "message"),
    [
        ("matplotlib", "result.plot.curve()", "Figures need matplotlib, which is not installed: "
         "pip install 'panmatch[report]'."),
        ("jinja2", "render(result, {}, {})", "Reports need jinja2, which is not installed: pip "
         "install 'panmatch[report]'."),
        ("PIL", "draw_case(found, grey=numpy.ones((1, 1)))", "Images below pictures need PIL, "
         "which is not installed: pip install 'panmatch[files]'."),
        ("skimage", "result.plot.scene(reference=[[1]], prediction=[[1]])", "Outlines need "
         "skimage, which is not installed: pip install 'panmatch[skeleton]'."),
    ],
)  # fmt: skip
def test_what_is_missing_can_be_installed(library: str, call: str, message: str) -> None:
    code = f"""
import importlib.abc, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] == {library!r}:
            raise ModuleNotFoundError(f"No module named {library!r}", name={library!r})
sys.meta_path.insert(0, Missing())
import panmatch as pm
from panmatch.errors import MissingExtraError
import numpy
from panmatch.report._case_pictures import draw_case
from panmatch.report._matched_class import match_class
from panmatch.report._page import render
one = numpy.ones((1, 1), int)
found = match_class(pm.Spec(), reference=one, prediction=one)
result = pm.evaluate(reference=[[1]], prediction=[[1]])
try:
    {call}
except MissingExtraError as error:
    assert str(error) == {message!r}, error
else:
    raise AssertionError("no error")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_matplotlib_is_loaded_by_the_first_figure_and_pyplot_never() -> None:
    code = """
import sys
import panmatch as pm
import panmatch.evaluation
result = pm.evaluate(reference=[[1, 1]], prediction=[[1, 0]])
assert "matplotlib" not in sys.modules and "panmatch.report" not in sys.modules
plot = result.plot
assert "matplotlib" not in sys.modules
plot.curve()
assert "matplotlib" in sys.modules and "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize("name", ["scene", "matching"])
def test_sides_by_position_are_refused_with_the_call_to_write(name: str) -> None:
    result = pm.evaluate(reference=[[1, 1]], prediction=[[1, 0]])
    with pytest.raises(OptionError, match=rf"write {name}\(reference=…, prediction=…\)"):
        getattr(result.plot, name)([[1, 1]], [[1, 0]])
