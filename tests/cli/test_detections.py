"""`panmatch evaluate` with confidences: folders, one file, images, COCO files and protocols."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from panmatch.datasets import load_run
from panmatch.protocols import run as run_protocol
from tests.commands import panmatch
from tests.detection_scenes import write_instances, write_scored, write_scores

DETECTION_TABLES = ("detections", "pr", "froc", "calibration")
OPTIONS = ("-s", "one-to-one", "-t", "0.1", "-t", "0.3", "--quiet")


def evaluate(*arguments: object, cwd: Path, expected: int = 0) -> str:
    done = panmatch("evaluate", *arguments, cwd=cwd)
    assert done.returncode == expected, done.stderr
    return done.stdout + done.stderr


def same_tables(one: Path, other: Path) -> None:
    names = sorted(path.name for path in one.glob("*.csv"))
    assert names == sorted(path.name for path in other.glob("*.csv"))
    for name in names:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def reasons(out: Path) -> dict[str, str]:
    with (out / "scores.csv").open(newline="") as file:
        return {row["case"]: row["reason"] for row in csv.DictReader(file)
                if row["status"] == "failed"}  # fmt: skip


def test_scores_in_a_folder_in_one_file_by_pattern_and_as_images_give_the_same_bytes(
    tmp_path: Path,
) -> None:
    cases = write_scored(tmp_path, 6)
    places = {"folder": "scores-a", "file": "all.csv", "pattern": "scores-{model}/{case}.csv",
              "images": "probabilities"}  # fmt: skip
    for name, place in places.items():
        evaluate("ref", "a", "--scores", place, *OPTIONS, "-o", name, cwd=tmp_path)
        same_tables(tmp_path / "folder", tmp_path / name)
    pooled = pm.add_surfaces(
        [
            pm.surface(
                pm.count_overlaps(case.reference, case.prediction).with_confidence(case.confidence)
            )
            for case in cases
        ]
    )
    table = pd.read_csv(tmp_path / "folder" / "detections.csv")
    value = table.query("measure == 'ap' and threshold == 0.3")["value"].item()
    assert value == pooled.average_precision(0.3)
    interval = pm.surface_interval(pooled, lambda s: s.average_precision(0.3))
    low = table.query("measure == 'ap' and threshold == 0.3")["low"].item()
    assert low == pytest.approx(interval.low, abs=1e-12)


def test_several_workers_give_the_same_bytes_as_one(tmp_path: Path) -> None:
    write_scored(tmp_path, 6, ("a", "b"))
    models = ("--model", "a=a", "--model", "b=b", "--scores", "a=scores-a", "--scores",
              "b=scores-b")  # fmt: skip
    for workers in (1, 2):
        out = f"out-{workers}"
        evaluate("ref", *models, *OPTIONS, "-j", workers, "-o", out, cwd=tmp_path)
    same_tables(tmp_path / "out-1", tmp_path / "out-2")
    assert set(pd.read_csv(tmp_path / "out-1" / "detections.csv")["model"]) == {"a", "b"}


def test_csv_files_next_to_predictions_are_found_by_a_spec_alone(tmp_path: Path) -> None:
    cases = write_scored(tmp_path, 5)
    for at, case in enumerate(cases):
        write_scores(tmp_path / "a" / f"c{at:02}.csv", case.confidence)
    (tmp_path / "spec.yaml").write_text("confidence: {}\n")
    said = evaluate("ref", "a", "--spec", "spec.yaml", "-o", "out", cwd=tmp_path)
    assert "ignored" not in said
    assert "Detections (one-to-one (optimal) at τ = 0.1, pooled): AP " in said
    evaluate("ref", "a", "--scores", "scores-a", "--quiet", "-o", "folder", cwd=tmp_path)
    same_tables(tmp_path / "out", tmp_path / "folder")


def test_a_cut_changes_scores_and_their_names_but_not_detections(tmp_path: Path) -> None:
    write_scored(tmp_path, 6)
    for name, cut in {"all": (), "cut": ("--cut", "0.5")}.items():
        evaluate("ref", "a", "--scores", "all.csv", *cut, *OPTIONS, "-o", name, cwd=tmp_path)
    for name in DETECTION_TABLES:
        whole, left = (tmp_path / which / f"{name}.csv" for which in ("all", "cut"))
        assert whole.read_bytes() == left.read_bytes()
    pr = pd.read_csv(tmp_path / "cut" / "pr.csv").query("threshold == 0.1 and cut >= 0.5")
    scores = pd.read_csv(tmp_path / "cut" / "scores.csv").query("threshold == 0.1")
    assert scores[["tp", "fp", "fn"]].sum().tolist() == pr[["tp", "fp", "fn"]].iloc[-1].tolist()
    assert set(scores["cut"]) == {0.5}
    shown = panmatch("show", "cut", cwd=tmp_path).stdout
    assert "class object, IoU, one-to-one (optimal), confidence ≥ 0.5" in " ".join(shown.split())


def test_bad_scores_fail_their_case_alone_and_say_what_to_do(tmp_path: Path) -> None:
    cases = write_scored(tmp_path, 8)
    folder = tmp_path / "scores-a"
    (folder / "c00.csv").unlink()
    some = dict(list(cases[1].confidence.items())[1:])
    write_scores(folder / "c01.csv", some)
    write_scores(folder / "c02.csv", cases[2].confidence | {99: 0.5})
    with (folder / "c03.csv").open("a") as file:
        file.write("1,0.5\n")
    (folder / "c04.csv").write_text("number,score\n1,0.5\n")
    write_scores(folder / "c05.csv", {**cases[5].confidence, 1: float("nan")})
    (folder / "c06.csv").write_text("id,score\n1,high\n")
    evaluate("ref", "a", "--scores", "scores-a", *OPTIONS, "-o", "out", cwd=tmp_path, expected=1)
    found = reasons(tmp_path / "out")
    expected = {
        "c00": "there are no confidences for 'a/c00.npy': 'scores-a/c00.csv' does not exist",
        "c01": f"'scores-a/c01.csv' has no value for id {min(cases[1].confidence)} of class",
        "c02": "'scores-a/c02.csv' has a value for id 99, which the prediction does not contain",
        "c03": "of 'scores-a/c03.csv' names id 1 again",
        "c04": "'scores-a/c04.csv' has the columns ['number', 'score']; it needs 'id' and 'score'",
        "c05": "'scores-a/c05.csv' has the value nan for id 1 of class 'object'; it must be a",
        "c06": "line 2 of 'scores-a/c06.csv' has id '1' and score 'high'; they must be a whole",
    }
    assert set(found) == set(expected)
    for name, text in expected.items():
        assert text in found[name]
    assert len(load_run(tmp_path / "out").evaluated("a")) == 1


def test_a_run_is_resumed_if_scores_change(tmp_path: Path) -> None:
    cases = write_scored(tmp_path, 5)
    command = ("ref", "a", "--scores", "scores-a", *OPTIONS)
    evaluate(*command, "-o", "out", cwd=tmp_path)
    write_scores(tmp_path / "scores-a" / "c01.csv", dict.fromkeys(cases[1].confidence, 0.125))
    evaluate(*command, "-o", "out", "--resume", cwd=tmp_path)
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert run["evaluated_now"] == 1
    assert run["results"][1]["prediction"]["scores"].endswith("c01.csv")
    evaluate(*command, "-o", "fresh", cwd=tmp_path)
    same_tables(tmp_path / "out", tmp_path / "fresh")


def test_a_missing_prediction_counts_as_an_empty_one_at_every_cut(tmp_path: Path) -> None:
    cases = write_scored(tmp_path, 5)
    (tmp_path / "a" / "c01.npy").unlink()
    command = ("ref", "a", "--scores", "scores-a", *OPTIONS)
    evaluate(*command, "--missing", "empty", "-o", "out", cwd=tmp_path)
    pr = pd.read_csv(tmp_path / "out" / "pr.csv")
    references = sum(len(np.unique(case.reference)) - 1 for case in cases)
    assert set(pr["tp"] + pr["fn"]) == {references}
    said = evaluate(*command, "--missing", "worst", "-o", "worst", cwd=tmp_path, expected=2)
    assert "--missing worst cannot be used with confidences" in said


def test_rows_of_unknown_cases_are_ignored_with_a_note(tmp_path: Path) -> None:
    write_scored(tmp_path, 5)
    with (tmp_path / "all.csv").open("a") as file:
        file.write("elsewhere,1,0.5\n")
    evaluate("ref", "a", "--scores", "all.csv", *OPTIONS, "-o", "out", cwd=tmp_path)
    notes = json.loads((tmp_path / "out" / "run.json").read_text())["warnings"]
    assert any("has confidences of 1 case without a prediction: elsewhere" in one["text"]
               for one in notes)  # fmt: skip


def test_a_manifest_names_scores_next_to_predictions(tmp_path: Path) -> None:
    write_scored(tmp_path, 5)
    rows = [f"c{i:02},a,ref/c{i:02}.npy,a/c{i:02}.npy,scores-a/c{i:02}.csv" for i in range(5)]
    head = "case,model,reference,prediction,scores"
    (tmp_path / "cases.csv").write_text("\n".join([head, *rows]))
    (tmp_path / "spec.yaml").write_text("confidence: {}\nmatching: one-to-one\n")
    evaluate("cases.csv", "--spec", "spec.yaml", "--quiet", "-o", "out", cwd=tmp_path)
    evaluate("ref", "a", "--spec", "spec.yaml", "--scores", "scores-a", "--quiet", "-o", "folder",
             cwd=tmp_path)  # fmt: skip
    assert (tmp_path / "out" / "detections.csv").read_bytes() == (
        tmp_path / "folder" / "detections.csv"
    ).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cut", "0.5"), "--cut needs confidences: say where they are with --scores"),
        (("--scores", "nowhere"), "--scores 'nowhere' does not exist: check its spelling"),
        (("--scores", "all.csv", "--cut", "high"), "--cut 'high' must be a number, such as 0.5"),
        (("--spec", "image.yaml"), "say where the images of probabilities are with --scores"),
        (
            ("--scores", "a=all.csv", "--scores", "z=all.csv"),
            "--scores z=all.csv: with several of them, each must be the name of a model",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(
    arguments: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    write_scored(tmp_path, 1)
    (tmp_path / "image.yaml").write_text("confidence: {source: image}\n")
    said = evaluate("ref", "a", *arguments, "-o", "out", cwd=tmp_path, expected=2)
    assert message in said


def test_one_place_for_several_models_needs_their_names(tmp_path: Path) -> None:
    write_scored(tmp_path, 1, ("a", "b"))
    said = evaluate("ref", "--model", "a=a", "--model", "b=b", "--scores", "scores-a", "-o", "out",
                    cwd=tmp_path, expected=2)  # fmt: skip
    assert "is one place for the models a, b: name one for each model, or write {model}" in said


def test_folders_are_evaluated_with_scores_from_python(tmp_path: Path) -> None:
    write_scored(tmp_path, 5)
    result = pm.evaluate_folders(
        reference=tmp_path / "ref",
        prediction=tmp_path / "a",
        out=tmp_path / "out",
        scores=tmp_path / "all.csv",
    )
    assert len(result.detections) > 0


def test_coco_instances_are_a_dataset_whatever_the_number_of_workers(tmp_path: Path) -> None:
    reference, prediction = write_instances(tmp_path, range(4))
    said = evaluate(reference.name, prediction.name, "-o", "out", cwd=tmp_path)
    assert "mean of classes" in said
    assert "Detections (one-to-one (optimal) at τ = 0.5, pooled): AP " in said
    evaluate(reference.name, prediction.name, "-q", "-j", 2, "-o", "out-2", cwd=tmp_path)
    same_tables(tmp_path / "out", tmp_path / "out-2")
    said = evaluate(reference.name, prediction.name, "--scores", "x", "-o", "o", cwd=tmp_path,
                    expected=2)  # fmt: skip
    assert "COCO files have scores of their own, or none; drop it" in said
    models = ("--model", f"a={prediction.name}", "--model", f"b={prediction.name}")
    evaluate(reference.name, *models, "-q", "-o", "two", "--report", cwd=tmp_path)
    assert "d-froc" in (tmp_path / "two" / "report.html").read_text()


def test_protocols_of_detections_are_reached_from_the_command_line(tmp_path: Path) -> None:
    reference, prediction = write_instances(tmp_path, range(4))
    said = evaluate(reference.name, prediction.name, "--protocol", "coco-instances", "-o", "out",
                    cwd=tmp_path)  # fmt: skip
    expected = run_protocol("coco-instances", reference=reference, prediction=prediction)
    assert said.startswith("coco-instances: pycocotools (cocoeval.py) 2.0.11\nAP ")
    table = pd.read_csv(tmp_path / "out" / "protocol.csv")
    assert dict(zip(table["name"], table["value"], strict=True)) == expected
    document = evaluate(reference.name, prediction.name, "--protocol", "coco-instances/boxes",
                        "--json", "-o", "boxes", cwd=tmp_path)  # fmt: skip
    assert json.loads(document)["name"] == "coco-instances/boxes"
    said = evaluate(reference.name, prediction.name, "--protocol", "coco-instances", "--cut", "0.5",
                    cwd=tmp_path, expected=2)  # fmt: skip
    assert "--protocol coco-instances has no use for --cut: drop it" in said


def test_detection_maps_of_picai_are_read_from_folders(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    masks, maps = [], []
    for name in ("ref", "pred"):
        (tmp_path / name).mkdir()
    for at in range(6):
        mask, found = np.zeros((2, 8, 8))
        if at % 2:
            mask[1:4, 1:4] = 1
            found[1:4, 2:5] = 0.5 + at / 20
        if rng.random() < 0.5:
            found[6:8, 6:8] = 0.3
        masks.append(mask.astype(np.uint8))
        maps.append(found)
        np.save(tmp_path / "ref" / f"p{at}.npy", masks[-1])
        np.save(tmp_path / "pred" / f"p{at}.npy", found)
    evaluate("ref", "pred", "--protocol", "picai", "-q", "-o", "out", cwd=tmp_path)
    table = pd.read_csv(tmp_path / "out" / "protocol.csv")
    expected = run_protocol("picai", reference=masks, prediction=maps)
    assert dict(zip(table["name"], table["value"], strict=True)) == expected
    (tmp_path / "pred" / "p3.npy").unlink()
    said = evaluate("ref", "pred", "--protocol", "picai", cwd=tmp_path, expected=2)
    assert "'pred' has no image for case 'p3', but 'ref' has" in said


def test_tables_of_luna_are_two_csv_files(tmp_path: Path) -> None:
    (tmp_path / "ref.csv").write_text(
        "seriesuid,coordX,coordY,coordZ,diameter_mm\ns1,0,0,0,10\ns2,5,5,5,8\n"
    )
    (tmp_path / "pred.csv").write_text(
        "seriesuid,coordX,coordY,coordZ,probability\ns1,1,0,0,0.9\ns2,90,90,90,0.4\n"
    )
    said = evaluate("ref.csv", "pred.csv", "--protocol", "froc-luna", "-o", "out", cwd=tmp_path)
    expected = run_protocol(
        "froc-luna", reference=tmp_path / "ref.csv", prediction=tmp_path / "pred.csv"
    )
    assert f"{expected['CPM']:.3f}" in said
    table = pd.read_csv(tmp_path / "out" / "protocol.csv")
    assert dict(zip(table["name"], table["value"], strict=True)) == expected


def test_protocols_of_detections_are_listed_and_shown() -> None:
    listed = panmatch("protocol", "list").stdout
    assert "picai: PI-CAI" in listed
    assert "froc-luna: LUNA16" in listed
    shown = panmatch("protocol", "show", "picai").stdout
    assert "Takes: a list of lesion masks, and a list of detection maps." in " ".join(shown.split())
