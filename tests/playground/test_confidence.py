"""Confidences of scenes and files: what a cut leaves, and what the page is told about all cuts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import FileError, LinkError, OptionError, OverlapError
from panmatch.playground import (
    PRESETS,
    STRATEGIES,
    Disc,
    FilePair,
    Scene,
    State,
    View,
    exact_overlap,
    export_scene,
    read_link,
    write_link,
)
from panmatch.playground._request_handler import RequestHandler
from panmatch.playground._validation import Message
from tests.playground.random_states import random_state

# Two references; one is found surely, one with doubts, and a spurious prediction lies between.
SCENE = Scene(
    reference=(Disc(100, 100, 40), Disc(300, 100, 40)),
    prediction=(
        Disc(105, 100, 40, confidence=0.9),
        Disc(310, 100, 40, confidence=0.35),
        Disc(500, 200, 30, confidence=0.6),
        Disc(500, 300, 20),
    ),
)
NESTED = replace(
    SCENE, prediction=tuple(replace(one, parts=(0.5,)) for one in SCENE.prediction)
)  # fmt: skip


def ask(state: State, kind: str = "numbers", **more: object) -> Message:
    """Return the answer of a handler to a question about a state."""
    found: Message = json.loads(
        RequestHandler().answer({"ask": kind, "state": state.to_dict(), **more})
    )
    assert found["is"] != "problem", found
    return found


def overlap_of(state: State) -> pm.Overlap:
    """Return the overlap with confidences, by the library alone."""
    assert state.scene is not None
    if state.view.areas == "analytic":
        return state.scene.with_confidence(exact_overlap(state.scene))
    images = state.scene.label_images()
    count = pm.count_region_overlaps if state.view.regions else pm.count_overlaps
    return state.scene.with_confidence(count(*images))


@pytest.mark.parametrize("cut", [None, 0.0, 0.35, 0.36, 0.6, 0.95, 1.0, 1.5])
@pytest.mark.parametrize("strategy", ["one-to-one/optimal", "many-to-one/merge/seed"])
@pytest.mark.parametrize("more", [{}, {"regions": True}, {"areas": "analytic"}])
def test_the_numbers_at_a_cut_are_those_of_the_surface(
    cut: float | None, strategy: str, more: dict[str, Any]
) -> None:
    state = State(SCENE, View(strategy, cut=cut, threshold=0.3, **more))
    surface = pm.surface(overlap_of(state), STRATEGIES[strategy])
    expected = surface.at(0.3, -np.inf if cut is None else cut)
    found = ask(state)
    assert [found["tally"][key] for key in ("tp", "fp", "fn")] == [
        expected.tp, expected.fp, expected.fn
    ]  # fmt: skip
    assert found["tally"]["pq"] == expected.pq
    kept = surface.at(0.0, -np.inf if cut is None else cut)
    assert len(found["vertices"]["prediction"]) == found["confidence"]["kept"]
    assert kept.tp + kept.fp <= found["confidence"]["kept"]


def test_the_curve_over_cuts_the_best_cut_and_average_precision_are_those_of_the_library() -> None:
    state = State(SCENE, View(cut=0.5, threshold=0.3))
    surface = pm.surface(overlap_of(state))
    curve, row = surface.over_cuts(0.3), ask(state)["confidence"]
    assert row["curve"]["cuts"] == [None, 1.0, 0.9, 0.6, 0.35]
    assert row["curve"]["pq"] == curve.pq.tolist()
    assert row["curve"]["recall"] == [0.0, 0.0, 0.5, 0.5, 1.0]
    assert row["curve"]["precision"] == [None, 0.0, 0.5, 1 / 3, 0.5]
    assert row["best"] == {"low": None, "high": 0.35, "pq": surface.best_cut(0.3).tally.pq}
    assert row["ap"] == surface.average_precision(0.3) == 0.5
    assert row["mean_ap"] == surface.mean_average_precision()
    assert (row["low"], row["high"], row["values"]) == (0.0, 1.0, [0.35, 0.6, 0.9, 1.0])
    assert (row["kept"], row["below"]) == (3, [1])


def test_nothing_is_said_about_confidences_where_there_are_none() -> None:
    plain = replace(
        SCENE, prediction=tuple(replace(one, confidence=None) for one in SCENE.prediction)
    )
    with_cut, without = (ask(State(plain, View(cut=cut))) for cut in (0.99, None))
    assert with_cut["confidence"] is without["confidence"] is None
    assert with_cut["tally"] == without["tally"]


def test_a_prediction_without_a_confidence_is_certain_among_others() -> None:
    assert overlap_of(State(SCENE)).confidence is not None
    assert overlap_of(State(SCENE)).above_cut(1.0).pred_ids.tolist() == [4]
    assert ask(State(SCENE, View(cut=1.0)))["confidence"]["kept"] == 1


def test_confidences_of_references_mean_nothing() -> None:
    scene = Scene((Disc(100, 100, 40, confidence=0.1),), (Disc(100, 100, 40),))
    assert not scene.has_confidence
    assert ask(State(scene, View(cut=0.5)))["tally"]["tp"] == 1


def test_what_is_below_the_cut_still_covers_others() -> None:
    scene = Scene((), (Disc(100, 100, 40), Disc(100, 100, 20, confidence=0.2)))
    whole, above = (scene.label_images(cut)[1] for cut in (None, 0.5))
    assert np.array_equal(above, np.where(whole == 2, 0, whole))
    assert np.array_equal(scene.label_images(0.2)[1], whole)  # a confidence at the cut is enough
    parts = replace(
        scene, prediction=(scene.prediction[0], replace(scene.prediction[1], parts=(0.5,)))
    )
    assert set(np.unique(parts.part_images()[1])) == {0, 1, 2}
    assert set(np.unique(parts.part_images(0.5)[1])) == {0, 1}


def test_parts_are_those_of_what_is_left() -> None:
    state = State(NESTED, View(parts=True, cut=0.5, threshold=0.3))
    images, parts = NESTED.label_images(0.5), NESTED.part_images(0.5)
    expected = pm.match(pm.count_part_overlaps(*images, *parts), threshold=0.3).part_tally
    assert expected is not None
    found = ask(state)
    assert found["quality"] == "parts"
    assert found["tally"]["pq"] == expected.pq


def test_related_metrics_are_those_of_what_is_left() -> None:
    handler, state = RequestHandler(), State(SCENE, View(cut=0.5))
    *_, last = handler.related({"ask": "numbers", "state": state.to_dict()})
    rows = {row["id"]: row["value"] for row in json.loads(last)["rows"]}
    reference, prediction = SCENE.label_images(0.5)
    cluster = pm.related.cluster_dice(reference=reference, prediction=prediction)
    assert rows["cluster-dice"] == cluster
    both = (reference > 0) & (prediction > 0)
    areas = (reference > 0).sum() + (prediction > 0).sum()
    assert rows["foreground-dice"] == pytest.approx(2 * both.sum() / areas, rel=1e-12)


def test_an_object_below_the_cut_says_so() -> None:
    below = ask(State(SCENE, View(cut=0.5)), "object", side="prediction", id=2)
    assert below["state"] == "below"
    assert [(one["id"], one["chosen"]) for one in below["partners"]] == [(2, False)]
    assert ask(State(SCENE, View(cut=0.5)), "object", side="prediction", id=1)["state"] == "matched"
    assert ask(State(SCENE, View(cut=0.5)), "object", side="reference", id=2)["state"] == "fn"


def test_links_carry_confidences_and_the_cut() -> None:
    state = State(NESTED, View(cut=0.425))
    link = write_link(state)
    assert link.endswith("P1eC2i,nx4_7ps_334P1eCz,12kw_ffk_2bcP1eC1o,12kw_n5c_1jkP1e:cut=0.425")
    assert read_link(link) == (state, [])


def test_links_from_before_confidences_still_open() -> None:
    state, _ = read_link("#1:n5c_dys_334:nx4_dys_334P1e:threshold=0.3")
    assert state.view == View(threshold=0.3)
    assert [one.confidence for one in state.scene.prediction] == [None]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("#1::1_2_3C2t:", r"^scene\.prediction\[0\]\.confidence=1\.01 must be less than or equal"),
        ("#1::1_2_3C:", r"^the 1st shape of prediction, '1_2_3C': '' is not a number of a link\.$"),
        ("#1::1_2_3:cut=high", r"^cut='high' of the link is not a number\.$"),
    ],
)
def test_a_wrong_confidence_of_a_link_is_refused(link: str, message: str) -> None:
    with pytest.raises(LinkError, match=message):
        read_link(link)


def test_code_prints_the_numbers_shown(capsys: pytest.CaptureFixture[str]) -> None:
    views = [View(cut=0.5), View(), View(cut=0.5, areas="analytic"), View(cut=0.5, regions=True)]
    for view in views:
        state = State(SCENE, view)
        found = ask(state)
        exec(compile(ask(state, "code")["python"], "code", "exec"), {})
        printed = capsys.readouterr().out.splitlines()
        assert printed[0].startswith(f"AP {found['confidence']['ap']} BestCut(")
        assert printed[2].split()[1] == str(found["tally"]["pq"])
    state = State(NESTED, View(cut=0.5, parts=True))
    exec(compile(ask(state, "code")["python"], "code", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].split()[:2] == ["PartPQ", str(ask(state)["tally"]["pq"])]


def test_an_exported_scene_has_only_what_is_left(tmp_path: Path) -> None:
    export_scene(State(SCENE, View(cut=0.5)), tmp_path)
    written = pm.formats.read_labels(tmp_path / "prediction.png").labels
    assert np.unique(written).tolist() == [0, 1, 3, 4]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Write three objects on either side; prediction 9 is spurious."""
    reference = np.zeros((8, 30), np.uint8)
    reference[1:5, 1:6], reference[1:5, 10:15], reference[1:5, 20:25] = 1, 2, 3
    prediction = np.zeros_like(reference)
    prediction[1:5, 2:6], prediction[2:5, 10:15], prediction[6:8, 26:30] = 4, 7, 9
    np.save(tmp_path / "reference.npy", reference)
    np.save(tmp_path / "prediction.npy", prediction)
    return tmp_path / "reference.npy", tmp_path / "prediction.npy"


def numbers_of(pair: FilePair, view: View) -> Message:
    answer: Message = json.loads(
        RequestHandler(pair).answer({"ask": "numbers", "state": State(None, view).to_dict()})
    )
    return answer


def test_files_take_confidences_from_a_csv_file(files: tuple[Path, Path]) -> None:
    scores = files[0].with_name("scores.csv")
    scores.write_text("id,score\n4,12.5\n7,-3\n9,0.5\n")
    pair = FilePair.open(*files, scores=scores)
    assert pair.describe()["scores"] == "scores.csv"
    overlap = pm.count_overlaps(*(np.load(file) for file in files)).with_confidence([12.5, -3, 0.5])
    for cut in (None, -3.0, 0.5, 1.0):
        found = numbers_of(pair, View(cut=cut, threshold=0.4))
        expected = pm.surface(overlap).at(0.4, -np.inf if cut is None else cut)
        assert [found["tally"][key] for key in ("tp", "fp", "fn", "pq")] == [
            expected.tp, expected.fp, expected.fn, expected.pq
        ]  # fmt: skip
    assert (found["confidence"]["low"], found["confidence"]["high"]) == (-3.0, 12.5)
    assert found["confidence"]["below"] == [1, 2]  # positions among all predictions


def test_files_take_confidences_from_an_image(files: tuple[Path, Path]) -> None:
    prediction = np.load(files[1])
    probability = np.where(prediction == 4, 0.75, np.where(prediction == 7, 0.5, 0.1))
    probability[2, 12] = 0.9
    np.save(files[0].with_name("probability.npy"), probability)
    pair = FilePair.open(*files, scores=files[0].with_name("probability.npy"))
    assert pair.confidences == {4: 0.75, 7: 0.9, 9: 0.1}
    *_, last = RequestHandler(pair).related(
        {"ask": "numbers", "state": State(None, View(cut=0.5)).to_dict()}
    )
    rows = {row["id"]: row["value"] for row in json.loads(last)["rows"]}
    kept = np.where(prediction == 9, 0, prediction)
    expected = pm.related.cluster_dice(reference=np.load(files[0]), prediction=kept)
    assert rows["cluster-dice"] == expected


def test_code_of_files_reads_their_confidences(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    scores = files[0].with_name("scores.csv")
    scores.write_text("id,score\n4,0.9\n7,0.8\n9,0.1\n")
    np.save(files[0].with_name("probability.npy"), np.load(files[1]) / 10)
    for path in (scores, files[0].with_name("probability.npy")):
        pair, state = FilePair.open(*files, scores=path), State(None, View(cut=0.5))
        code = json.loads(RequestHandler(pair).answer({"ask": "code", "state": state.to_dict()}))
        exec(compile(code["python"], "code", "exec"), {})
        printed = capsys.readouterr().out.splitlines()
        assert printed[2].split()[1] == str(numbers_of(pair, state.view)["tally"]["pq"])
        assert "whatever their confidence" in code["notes"][0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "id,score\n4,1\n7,1\n", r"the predictions 9 have no confidence"),
        ("a.csv", "id,score\n4,1\n7,1\n9,1\n5,1\n", r"unknown ids 5"),
        ("a.csv", "id,class\n4,1\n", r"it needs 'id' and 'score'"),
        ("a.txt", "id,score\n", r"does not have the suffix of an image of probabilities. Accepted"),
    ],
)
def test_scores_that_do_not_fit_are_refused(
    files: tuple[Path, Path], name: str, content: str, message: str
) -> None:
    path = files[0].with_name(name)
    path.write_text(content)
    with pytest.raises((FileError, OverlapError), match=message):
        FilePair.open(*files, scores=path)


def test_an_image_of_probabilities_must_have_the_grid_of_the_labels(
    files: tuple[Path, Path],
) -> None:
    np.save(files[0].with_name("small.npy"), np.zeros((3, 3)))
    with pytest.raises(pm.errors.ShapeError, match=r"has shape \(3, 3\), but the labels have"):
        FilePair.open(*files, scores=files[0].with_name("small.npy"))


def test_every_scene_with_confidences_has_all_numbers() -> None:
    rng = np.random.default_rng(20)
    found = [ask(state) for state in (random_state(rng) for _ in range(150))]
    assert sum(one["confidence"] is not None for one in found) > 40


def test_the_presets_show_what_they_say() -> None:
    by_id = {preset.id: preset.state for preset in PRESETS}
    detector = pm.surface(overlap_of(by_id["confidence"])).over_cuts(0.5)
    best = detector.best()
    assert (best.low, best.high) == (0.35, 0.43)
    assert (best.tally.tp, best.tally.fp, best.tally.fn) == (5, 1, 1)
    assert (detector.at(-np.inf).tp, detector.at(-np.inf).fp) == (5, 6)
    pieces = overlap_of(by_id["confidence-fragments"])
    assert pm.surface(pieces, "many-to-one").best_cut(0.4).high == 0.31
    assert pm.surface(pieces, "one-to-one").best_cut(0.4).high == 0.88


def test_with_very_many_predictions_the_charts_are_left_out() -> None:
    discs = tuple(Disc(8 + 12 * at, 181, 5, confidence=at / 50) for at in range(49))
    state = State(
        Scene(discs, discs), View(strategy="many-to-one/optimal/seed", compared=(), cut=0.5)
    )
    row = ask(state, budget=False)["confidence"]
    assert (row["curve"], row["best"], row["ap"]) == (None, None, None)
    assert row["kept"] == 24
    local = ask(State(state.scene, View(compared=(), cut=0.5)), budget=False)["confidence"]
    assert local["best"]["pq"] == 1.0


def test_a_cut_must_be_a_number() -> None:
    with pytest.raises(OptionError, match="cut='high' must be a valid number"):
        View.from_dict({"cut": "high"})
