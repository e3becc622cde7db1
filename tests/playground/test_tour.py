"""The guided tour tells the truth: its guesses, its numbers and its goals follow the library."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import panmatch as pm
from panmatch.errors import OptionError, StrategyError
from panmatch.playground import STRATEGIES, Disc, Ellipse, Scene, page_link, read_link
from panmatch.playground._presets import BY_ID as PRESETS_BY_ID
from panmatch.playground._story import all_edges_row
from panmatch.playground._tour import STEPS, Condition, Measured, TourStep
from tests.playground.drawn_scenes import count

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorials" / "playground.md"
BY_ID = {step.id: step for step in STEPS}
MOST_WORDS = 90
MOST_WORDS_OF_A_VERDICT = 35


def scene_of(name: str) -> Scene:
    scene = BY_ID[name].state.scene
    assert scene is not None
    return scene


def overlap_of(name: str) -> pm.Overlap:
    return count(scene_of(name), BY_ID[name].state.view)


def tally_of(name: str, strategy: str, threshold: float | None = None) -> pm.Tally:
    tau = BY_ID[name].state.view.threshold if threshold is None else threshold
    matching = pm.match(overlap_of(name), STRATEGIES[strategy], tau)
    return matching.part_tally or matching.tally


def iou_of(overlap: pm.Overlap, ref: int, pred: int) -> float:
    """Return the IoU of two objects by their ids."""
    edges = overlap.edges
    found = (overlap.ref_ids[edges.ref] == ref) & (overlap.pred_ids[edges.pred] == pred)
    return float(overlap.iou[found].sum())


def right_answer(name: str) -> str:
    (right,) = (answer for answer in BY_ID[name].guess.answers if answer.right)
    return right.text


def texts_of(step: TourStep) -> str:
    says = (answer.says for answer in step.guess.answers)
    return " ".join((step.text, step.guess.question, *says, step.goal.text, step.goal.done))


def moved(name: str, position: int, **change: float) -> pm.Overlap:
    """Count a step after one of its predictions was changed."""
    scene = scene_of(name)
    shapes = list(scene.prediction)
    shape = shapes[position]
    assert isinstance(shape, Disc | Ellipse)
    shapes[position] = type(shape).from_dict({**shape.to_dict(), **change})
    return count(replace(scene, prediction=tuple(shapes)), BY_ID[name].state.view)


def value_of(measured: Measured, step: TourStep) -> float:
    """Return what a number of a goal is at the start of its step."""
    view = step.state.view
    if measured.what == "threshold":
        return view.threshold
    if measured.what == "iou":
        assert measured.pair is not None
        return iou_of(overlap_of(step.id), *measured.pair)
    if measured.what == "counted_twice":
        return float(all_edges_row(overlap_of(step.id), view.threshold)["counted_twice"])
    return float(getattr(tally_of(step.id, measured.strategy or view.strategy), measured.what))


def holds(condition: Condition, step: TourStep) -> bool:
    left = value_of(condition.left, step)
    right = condition.number if condition.right is None else value_of(condition.right, step)
    assert right is not None
    if condition.relation == "equal to":
        return left == right
    return left > right if condition.relation == "above" else left < right


def test_the_tour_has_eight_steps_with_names_of_their_own() -> None:
    assert list(BY_ID) == [
        "tour-overlap",
        "tour-threshold",
        "tour-half",
        "tour-fragments",
        "tour-merged",
        "tour-many-to-many",
        "tour-greedy",
        "tour-regions",
    ]
    assert len({step.title for step in STEPS}) == 8
    assert not set(BY_ID) & set(PRESETS_BY_ID)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step.id))
def test_a_step_is_short(step: TourStep) -> None:
    read = " ".join((step.text, step.guess.question, step.goal.text))
    assert len(read.split()) <= MOST_WORDS
    for text in (*(answer.says for answer in step.guess.answers), step.goal.done):
        assert len(text.split()) <= MOST_WORDS_OF_A_VERDICT
    assert step.guess.question.endswith("?")
    assert step.goal.text.endswith(".")
    assert texts_of(step).count("*") % 2 == 0


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step.id))
def test_names_in_a_step_are_those_of_its_objects(step: TourStep) -> None:
    scene = scene_of(step.id)
    for side, number in re.findall(r"\b([RP])([1-9])\b", texts_of(step) + " ".join(step.touch)):
        shapes = scene.reference if side == "R" else scene.prediction
        assert int(number) <= len(shapes)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step.id))
def test_a_goal_is_not_met_at_the_start(step: TourStep) -> None:
    assert not all(holds(condition, step) for condition in step.goal.conditions)


def test_discs_that_slipped_by_half_their_width_have_an_iou_of_a_quarter() -> None:
    overlap = overlap_of("tour-overlap")
    (true,), (found,) = scene_of("tour-overlap").reference, scene_of("tour-overlap").prediction
    assert isinstance(true, Disc)
    assert isinstance(found, Disc)
    assert found.x - true.x == true.r == found.r
    assert (true.y, BY_ID["tour-overlap"].state.view.threshold) == (found.y, 0)
    assert right_answer("tour-overlap") == f"about {overlap.iou[0]:.2f}" == "about 0.24"
    assert f"{overlap.edges.intersection[0] / overlap.ref_sizes[0]:.0%}" == "39%"
    tenth = moved("tour-overlap", 0, x=true.x + true.r / 5)
    assert f"down to {tenth.iou[0]:.2f}." in BY_ID["tour-overlap"].goal.done


def test_a_pair_below_the_threshold_is_two_mistakes() -> None:
    step, overlap = BY_ID["tour-threshold"], overlap_of("tour-threshold")
    assert "IoUs are {:.2f}, {:.2f} and {:.2f}".format(*overlap.iou) in step.text
    assert "τ is 0.5" in step.text
    tally = tally_of(step.id, step.state.view.strategy)
    assert (tally.tp, tally.fp, tally.fn) == (2, 1, 1)
    assert pm.match(overlap, threshold=0.5).pairs.tolist() == [[1, 1], [2, 2]]
    assert right_answer(step.id) == "two"
    lower = tally_of(step.id, step.state.view.strategy, 0.3)
    assert (lower.tp, lower.fp, lower.fn) == (3, 0, 0)


def test_at_one_half_only_one_piece_passes() -> None:
    step, overlap = BY_ID["tour-half"], overlap_of("tour-half")
    assert iou_of(overlap, 1, 1) > 0.5 > iou_of(overlap, 1, 2) > 0.25
    assert f"an IoU of {iou_of(overlap, 1, 1):.2f}" in step.text
    assert right_answer(step.id) == "no, never"
    # The most that two predictions can share of one object: each takes one half, and nothing else.
    halves = pm.Overlap.from_dense([[50, 50]], ref_sizes=[100], pred_sizes=[50, 50])
    assert (halves.iou <= 0.5).all()


def test_a_lost_piece_helps_many_to_one_alone() -> None:
    step = BY_ID["tour-fragments"]
    assert right_answer(step.id) == "many-to-one’s"
    home = moved(step.id, 2, x=315.0, y=205.0)
    assert iou_of(overlap_of(step.id), 1, 3) == 0 < iou_of(home, 1, 3)
    for strategy, rises in (("one-to-one/optimal", False), ("many-to-one/merge/seed", True)):
        before = tally_of(step.id, strategy).pq
        after = pm.match(home, STRATEGIES[strategy], step.state.view.threshold).tally.pq
        assert (after > before) == rises
        assert (after == before) == (not rises)
    one = tally_of(step.id, "one-to-one/optimal")
    assert (one.tp, one.fp) == (1, 2)
    assert texts_of(step).count(f"stays at {one.pq:.3f}") == 3


def test_only_one_to_many_lets_objects_share_a_prediction() -> None:
    step = BY_ID["tour-merged"]
    assert right_answer(step.id) == "one-to-many"
    shared = moved(step.id, 0, x=205.0)
    for answer in step.guess.answers:
        pairs = pm.match(shared, answer.text, step.state.view.threshold).pairs.tolist()
        assert ([1, 1] in pairs and [2, 1] in pairs) == answer.right
    many, one = (
        pm.match(shared, strategy, step.state.view.threshold).tally
        for strategy in ("one-to-many", "many-to-one")
    )
    assert (many.fn, one.fn) == (0, 1)
    assert many.pq > one.pq
    starts = {tally_of(step.id, name).pq for name in ("one-to-many/best", "many-to-one/merge/seed")}
    assert len(starts) == 1


def test_many_to_many_counts_four_hits_for_three_objects_and_is_refused() -> None:
    step, overlap = BY_ID["tour-many-to-many"], overlap_of("tour-many-to-many")
    row = all_edges_row(overlap, step.state.view.threshold)
    assert row["pairs"] == [[1, 1], [2, 1], [2, 2], [3, 2]]
    assert row["references"] == {"counted": 4, "there": 3}
    assert row["predictions"] == {"counted": 4, "there": 2}
    assert row["counted_twice"] == overlap.pred_sizes.sum()
    assert row["groups"] == [{"kind": "n-m", "count": 1}]
    assert right_answer(step.id) == "four"
    with pytest.raises(StrategyError, match="cluster_dice"):
        pm.match(overlap, "many-to-many")
    assert all_edges_row(overlap, 0.3)["counted_twice"] == 0


def test_greedy_finds_one_of_the_two_objects_that_optimal_finds() -> None:
    step = BY_ID["tour-greedy"]
    greedy = pm.match(overlap_of(step.id), pm.OneToOne(solver="greedy"), 0.2)
    optimal = pm.match(overlap_of(step.id), pm.OneToOne(), 0.2)
    assert step.state.view.threshold == 0.2
    assert greedy.pairs.tolist() == [[1, 2]]
    assert optimal.pairs.tolist() == [[1, 1], [2, 2]]
    assert right_answer(step.id) == "one"
    for answer in step.guess.answers:
        assert f"{greedy.tally.pq:.3f}" in answer.says
        assert f"{optimal.tally.pq:.3f}" in answer.says


def test_a_border_makes_two_finds_of_a_prediction_that_finds_nothing_whole() -> None:
    step = BY_ID["tour-regions"]
    whole = pm.count_overlaps(*scene_of(step.id).label_images())
    assert pm.match(whole, threshold=0.4).pairs.tolist() == []
    cut = pm.match(overlap_of(step.id), threshold=0.4)
    assert cut.pairs.tolist() == [[1, 1], [2, 1]]
    assert right_answer(step.id) == "both"
    first, second = cut.ref_quality[:2]
    for answer in step.guess.answers:
        assert f"{first:.2f} and {second:.2f}" in " ".join(answer.says.split())
    assert cut.ref_part_quality is not None
    assert f"{first:.2f} as a whole, but only {cut.ref_part_quality[0]:.2f}" in step.goal.done
    assert cut.part_tally is not None
    assert cut.part_tally.pq < 0.5


@pytest.mark.parametrize("step", STEPS, ids=lambda step: str(step.id))
def test_the_id_of_a_step_is_a_link(step: TourStep) -> None:
    for link in (f"#{step.id}", f"http://127.0.0.1:8000/#{step.id}"):
        assert read_link(link) == (step.state, [])
        assert page_link(link) == f"#{step.id}"


def test_the_tour_begins_with_its_first_step() -> None:
    assert read_link("#tour")[0] == STEPS[0].state
    assert page_link("#tour") == "#tour"


def test_other_links_open_as_the_states_that_they_carry() -> None:
    assert read_link(page_link("#gates")) == read_link("#gates")
    assert "tour" not in page_link("#gates")


def step_with(**change: object) -> dict[str, object]:
    return {**STEPS[0].to_dict(), **change}


def test_a_tour_that_is_written_wrongly_says_what_is_wrong() -> None:
    reply = {"text": "a", "says": "b", "right": True}
    goal = STEPS[0].goal.to_dict()
    pq = {"what": "pq"}
    for change, problem in (
        ({"guess": {"question": "Why?", "answers": [reply, reply]}},
         "guess: 'Why?' must have two to four answers, of which one is right."),
        ({"guess": {"question": "Why?", "answers": [reply]}},
         "guess: 'Why?' must have two to four answers, of which one is right."),
        ({"goal": {**goal, "conditions": []}}, f"goal: {goal['text']!r} must have a condition."),
        ({"goal": {**goal, "conditions": [{"left": pq, "relation": "above"}]}},
         "goal.conditions[0]: a condition needs either right or number."),
        ({"goal": {**goal, "watch": [{"what": "iou"}]}},
         "goal.watch[0]: what='iou': an IoU needs a pair, and nothing else has one."),
        ({"goal": {**goal, "watch": [{**pq, "pair": [1, 1]}]}},
         "goal.watch[0]: what='pq': an IoU needs a pair, and nothing else has one."),
        ({"id": "fragments"}, "id='fragments' must be such as 'tour-fragments'."),
        ({"touch": ["X1"]}, "touch=('X1',) must be names such as 'P1'."),
    ):  # fmt: skip
        with pytest.raises(OptionError, match=f"^{re.escape(problem)}$"):
            TourStep.from_dict(step_with(**change))


def test_the_tutorial_lists_the_steps_with_their_links() -> None:
    listed = re.findall(
        r"^\| (\d)\. (.+?) \| `#(tour-[a-z-]+)` \|", TUTORIAL.read_text(), re.MULTILINE
    )
    assert listed == [(str(at), step.title, step.id) for at, step in enumerate(STEPS, start=1)]
