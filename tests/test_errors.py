"""Errors speak the language of whoever made the mistake."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.main

import panmatch as pm
from panmatch import _synonyms as synonyms
from panmatch.cli import _app as command_line
from panmatch.errors import Argument, OptionError, StrategyError, nearest_name
from panmatch.matching import STRATEGIES
from panmatch.spec import as_spec
from tests import scenes

SOURCE = Path(__file__).parents[1] / "src" / "panmatch"
ACCEPTED: dict[str, set[str]] = {
    "strategy": {*STRATEGIES, "many-to-many"},
    "metrics": set(pm.all_metrics()),
    "solver": {"optimal", "greedy", "merge", "best"},
    "score": {"iou", "dice", "prediction-share", "reference-share"},
}


@pytest.mark.parametrize("kind", sorted(ACCEPTED))
def test_what_is_explained_is_accepted_and_what_is_accepted_is_not_explained(kind: str) -> None:
    explained = [word for words in synonyms._MEANT[kind].values() for word in words]
    assert len(explained) == len(set(explained))
    assert not {word.replace("-", "_") for word in explained} & ACCEPTED[kind]
    assert not set(explained) & ACCEPTED[kind]
    for ours in synonyms._MEANT[kind]:
        named = re.findall(r"'([^']+)'", ours)
        assert named
        assert set(named) <= ACCEPTED[kind] | ACCEPTED["solver"] | {"greedy"}


def test_every_kind_of_word_is_tested() -> None:
    assert set(synonyms._MEANT) == set(ACCEPTED)


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ("hungarian", "'one-to-one' with the solver 'optimal', which is its default."),
        ("Munkres", "'one-to-one' with the solver 'optimal', which is its default."),
        ("bipartite", "'one-to-one' with the solver 'optimal', which is its default."),
        ("merge", "'many-to-one'."),
        (
            "greedy",
            "'one-to-one' with the solver 'greedy': OneToOne(solver='greedy'), or in a spec",
        ),
        ("n:m", "'many-to-many', and refuses it: use cluster_dice"),
    ],
)
def test_strategies_of_others_are_explained(given: str, ours: str) -> None:
    message = re.escape(f"strategy={given!r} is not known; panmatch calls it {ours}")
    with pytest.raises(StrategyError, match=message):
        pm.match(scenes.SPLIT, given)
    with pytest.raises(pm.PanmatchError, match=message):
        as_spec({"matching": given})


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ("hausdorff", "'hd'."),
        ("Hausdorff Distance", "'hd'."),
        ("hausdorff_95", "'hd95'."),
        (
            "msd",
            "'assd' (one mean over both boundaries), 'masd' (the mean of both directions) or "
            "'asd_from_prediction' (one direction).",
        ),
        ("jaccard", "'iou'."),
        ("surface_dice", "'nsd'."),
    ],
)
def test_metrics_of_others_are_explained(given: str, ours: str) -> None:
    message = re.escape(f"metrics={given!r} is not known; panmatch calls it {ours} Accepted: ")
    with pytest.raises(OptionError, match=message):
        pm.measure_whole([1], [1], given)


def test_a_word_that_resembles_nothing_suggests_nothing() -> None:
    assert nearest_name("hungarian", STRATEGIES) == "."
    assert nearest_name("hausdorff", pm.all_metrics()) == "."
    assert nearest_name("mn", ["mm", "voxel"]) == "; did you mean 'mm'?"


class TestArguments:
    """An argument is written as its reader writes it."""

    def test_errors_travel_between_processes(self) -> None:
        error = OptionError(Argument("spacing", (1.0, 0.5)), " has 2 numbers.")
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error) == "spacing=(1.0, 0.5) has 2 numbers."
        assert again.for_command_line() == "--spacing 1,0.5 has 2 numbers."

    @pytest.mark.parametrize(
        ("argument", "option"),
        [
            (Argument("spec", "cels"), "--spec 'cels'"),
            (Argument("spacing", [3, 1, 1]), "--spacing 3,1,1"),
            (Argument("allow_header_mismatch", True), "--allow-header-mismatch"),
            (Argument("scores", "x", "--score"), "--score 'x'"),
            (Argument("reference_parts"), "--reference-parts"),
        ],
    )
    def test_options(self, argument: Argument, option: str) -> None:
        assert argument.option == option

    def test_every_argument_that_errors_name_is_an_option(self) -> None:
        group: Any = typer.main.get_command(command_line.app)
        known = {
            option
            for command in group.commands.values()
            for parameter in command.params
            for option in parameter.opts
        }
        named = set()
        for path in SOURCE.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Argument":
                    values = {keyword.arg: keyword.value for keyword in node.keywords}
                    first = node.args[0]
                    if isinstance(first, ast.Constant):
                        flag = values.get("flag")
                        shown = flag.value if isinstance(flag, ast.Constant) else None
                        named.add(shown or Argument(str(first.value)).option)
        assert {"--spec", "--spacing", "--allow-header-mismatch", "--score"} <= named
        assert named <= known


def test_labels_are_listed_up_to_ten_with_their_voxels() -> None:
    labels = np.repeat(np.arange(1, 15), np.arange(1, 15))
    spec = {"classes": {"one": {"labels": 1}}}
    with pytest.raises(pm.PanmatchError) as caught:
        pm.evaluate(reference=labels, prediction=labels, spec=spec)
    listed = ", ".join(f"{i} ({i} voxels)" for i in range(2, 12))
    numbers = ", ".join(map(str, range(2, 12)))
    assert str(caught.value) == (
        f"reference holds {listed} and 3 more, which are in no class. If they "
        f"are objects, add them to the labels of a class; if they are background, write "
        f"`background: [{numbers}, …]` in the spec (or pass ignored=[{numbers}, …] to "
        f"from_labels), or set them to 0."
    )


def remedy(message: str, key: str) -> dict[str, list[int]]:
    """Return what a message says to write in the spec."""
    found = re.search(rf"`{key}: \[([-\d, ]+)\]`", message)
    assert found is not None, message
    return {key: [int(number) for number in found[1].split(",")]}


@pytest.mark.parametrize("side", ["reference", "prediction"])
@pytest.mark.parametrize(
    ("strange", "spec"),
    [
        ([-1, -1, -7], {}),
        ([-1, 8, 9], {"classes": {"cell": {"labels": [1, 2]}}}),
        ([-1, -1, -7], {"classes": {"cell": {"labels": 1}, "all": {"labels": "all"}}}),
    ],
)
def test_the_remedy_for_foreign_labels_leaves_scores_as_they_are(
    side: str, strange: list[int], spec: dict[str, Any]
) -> None:
    known = np.array([1, 1, 1, 2, 2, 0, 0, 0])
    expected = pm.evaluate(reference=known, prediction=known, spec=spec)
    images: dict[str, Any] = {"reference": known, "prediction": known.copy()}
    images[side] = np.concatenate([known[:5], strange])
    with pytest.raises(pm.PanmatchError) as caught:
        pm.evaluate(**images, spec=spec)
    message = str(caught.value)
    assert all(str(label) in message for label in strange)
    assert ("`void: " in message) == (side == "reference" and "negative" in message)
    found = pm.evaluate(**images, spec={**spec, **remedy(message, "background")})
    assert found.scores.equals(expected.scores)


@pytest.mark.parametrize("strange", [[8, 9], [-1, -1]])
def test_the_remedy_for_foreign_parts_leaves_scores_as_they_are(strange: list[int]) -> None:
    body = np.array([1, 1, 1, 1, 0])
    spec: dict[str, Any] = {"classes": {"body": {"labels": 1, "parts": [1, 2]}}}
    parts = np.array([1, 2, 0, 0, 0])
    images: dict[str, Any] = {
        "reference": body,
        "prediction": body,
        "reference_parts": parts,
    }
    expected = pm.evaluate(**images, prediction_parts=parts, spec=spec)
    foreign = np.array([1, 2, *strange, 0])
    with pytest.raises(pm.PanmatchError) as caught:
        pm.evaluate(**images, prediction_parts=foreign, spec=spec)
    assert all(str(label) in str(caught.value) for label in strange)
    written = {**spec, **remedy(str(caught.value), "not_parts")}
    found = pm.evaluate(**images, prediction_parts=foreign, spec=written)
    assert found.scores.equals(expected.scores)


def test_negative_labels_of_counts_name_void_only_for_the_reference() -> None:
    for labels, void in (([1, -1], "void=-1"), ([-3, -1], "void=reference < 0")):
        with pytest.raises(pm.PanmatchError, match=f"if they mark unknown voxels, pass {void}"):
            pm.count_overlaps(labels, [1, 1])
        with pytest.raises(pm.PanmatchError, match="prediction holds the negative label") as caught:
            pm.count_overlaps([1, 1], labels)
        assert "void" not in str(caught.value)
    pm.count_overlaps(np.array([-3, -1]), [1, 1], void=np.array([-3, -1]) < 0)
