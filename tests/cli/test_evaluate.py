"""`panmatch evaluate` as people type it: formats, models, exit codes, and bad input."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import nibabel
import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from panmatch import related
from panmatch.spec import read_spec
from tests.commands import panmatch
from tests.datasets.folders import SPACING, make_folders, save_nifti, scene, tables
from tests.platforms import needs_posix

NO_INTERVAL = "panmatch: warning: no interval: 2 cases are too few (at least 5 are needed).\n"
MANY = 80  # cases, so that a run is still going on when it is interrupted


def test_two_folders_give_tables_and_a_summary(tmp_path: Path) -> None:
    make_folders(tmp_path, 2)
    done = panmatch("evaluate", tmp_path / "ref", tmp_path / "model", "-o", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, NO_INTERVAL)
    assert done.stdout.startswith("2 cases: class object, IoU, one-to-one (optimal), pooled")
    scores = pd.read_csv(tmp_path / "out" / "scores.csv")
    assert set(scores.strategy) == {"one-to-one", "many-to-one", "one-to-many"}
    assert list(scores.case.unique()) == ["case00", "case01"]
    assert set(scores.model) == {"model"}
    shown = panmatch("show", tmp_path / "out")
    assert (shown.stdout, shown.stderr) == (done.stdout, NO_INTERVAL)
    everything = panmatch("show", tmp_path / "out", "--all").stdout
    assert "at most 1 prediction per reference, at most 1 reference per prediction" in everything


def test_several_models_and_workers_at_once(tmp_path: Path) -> None:
    make_folders(tmp_path, 3, models=("near", "far"))
    models = [f"--model={name}={tmp_path / name}" for name in ("near", "far")]
    done = panmatch("evaluate", tmp_path / "ref", *models, "-j", 2, "-o", tmp_path / "two")
    assert done.returncode == 0
    one = panmatch("evaluate", tmp_path / "ref", *models, "-o", tmp_path / "one")
    assert one.stdout.replace(str(tmp_path / "one"), str(tmp_path / "two")) == done.stdout
    assert tables(tmp_path / "one") == tables(tmp_path / "two")
    scores = pd.read_csv(tmp_path / "one" / "scores.csv")
    assert scores.groupby("model").case.nunique().to_dict() == {"far": 3, "near": 3}


def test_every_format_gives_the_same_scores(tmp_path: Path) -> None:
    import SimpleITK
    import tifffile
    import zarr

    reference, prediction = scene(3), scene(4)
    save_nifti(tmp_path / "r.nii.gz", reference, (1, 1, 1))
    (tmp_path / "r.nii").write_bytes(gzip.decompress((tmp_path / "r.nii.gz").read_bytes()))
    tifffile.imwrite(tmp_path / "p.tif", prediction.astype(np.uint16))
    np.save(tmp_path / "p.npy", prediction)
    np.savez(tmp_path / "p.npz", prediction)
    zarr.save(str(tmp_path / "p.zarr"), prediction)  # type: ignore[arg-type]
    save_nifti(tmp_path / "p.nii.gz", prediction, (1, 1, 1))
    image = SimpleITK.GetImageFromArray(prediction.astype(np.uint8).transpose())
    image.SetDirection((-1, 0, 0, 0, -1, 0, 0, 0, 1))
    SimpleITK.WriteImage(image, tmp_path / "p.mha")
    SimpleITK.WriteImage(image, tmp_path / "p.nrrd")
    found = pm.evaluate(reference=reference, prediction=prediction, spacing=1.0)
    expected = found.scores.drop(columns="case")
    assert set(expected["unit"]) == {"mm"}
    for ref in ("r.nii.gz", "r.nii"):
        for pred in ("p.tif", "p.npy", "p.npz", "p.zarr", "p.nii.gz", "p.mha", "p.nrrd"):
            out = tmp_path / f"{ref}{pred}"
            done = panmatch("evaluate", tmp_path / ref, tmp_path / pred, "-o", out)
            assert done.returncode == 0, done.stderr
            table = pd.read_parquet(out / "scores.parquet").drop(columns=["case", "model"])
            pd.testing.assert_frame_equal(table, expected, check_dtype=False)


def test_spacing_comes_from_the_header_whichever_library_reads_it(tmp_path: Path) -> None:
    """An oblique, anisotropic grid: a wrong order of axes or spacings changes the distances."""
    import SimpleITK

    reference = np.zeros((12, 16, 20), np.uint8)
    reference[3:7, 4:9, 5:15] = 1
    prediction = np.roll(reference, (1, 2, 3), axis=(0, 1, 2))
    turn = np.linalg.qr(np.array([[9.0, 1, 2], [-1, 8, 3], [1, -2, 7]]))[0]
    affine = np.eye(4)
    affine[:3, :3] = turn @ np.diag(SPACING)
    affine[:3, 3] = (-20, 5, 11)
    for name, labels in (("ref", reference), ("pred", prediction)):
        nibabel.save(nibabel.Nifti1Image(labels, affine), tmp_path / f"{name}.nii.gz")
        image = SimpleITK.ReadImage(tmp_path / f"{name}.nii.gz")
        SimpleITK.WriteImage(image, tmp_path / f"{name}.mha")
    spec = tmp_path / "spec.yaml"
    spec.write_text("thresholds: 0.05\nmetrics: [hd, hd95, assd, centre_distance]\n")
    expected = pm.evaluate(reference=reference, prediction=prediction, spec=spec, spacing=SPACING)
    assert expected.instances.centre_distance[0] == pytest.approx((0.25 + 4 + 36) ** 0.5)
    for ref, pred in (("nii.gz", "nii.gz"), ("mha", "mha"), ("nii.gz", "mha")):
        out = tmp_path / f"{ref}{pred}"
        files = tmp_path / f"ref.{ref}", tmp_path / f"pred.{pred}"
        done = panmatch("evaluate", *files, "--spec", spec, "-o", out)
        assert done.returncode == 0, done.stderr
        found = pd.read_parquet(out / "instances.parquet")
        for metric in ("hd", "hd95", "assd", "centre_distance"):
            assert found[metric].to_numpy() == pytest.approx(
                expected.instances[metric].to_numpy(), abs=1e-6, nan_ok=True
            )


def test_coco_files_are_scored_as_the_official_program_does(tmp_path: Path) -> None:
    from PIL import Image

    categories = [
        {"id": 1, "name": "cat", "isthing": 1},
        {"id": 2, "name": "grass", "isthing": 0},
    ]
    segments = np.zeros((8, 8), np.uint8)
    segments[:4, :4], segments[4:, :4], segments[:, 4:] = 1, 2, 3
    for side, shift in (("ref", 0), ("pred", 1)):
        (tmp_path / side).mkdir()
        ids = np.roll(segments, shift, axis=0)
        colours = np.stack([ids, np.zeros_like(ids), np.zeros_like(ids)], -1)
        Image.fromarray(colours).save(tmp_path / side / "1.png")
        info = [{"id": i, "category_id": 1 if i < 3 else 2, "iscrowd": 0} for i in (1, 2, 3)]
        annotation = {"image_id": 1, "file_name": "1.png", "segments_info": info}
        content = {"annotations": [annotation], "categories": categories}
        (tmp_path / f"{side}.json").write_text(json.dumps(content))
    files = tmp_path / "ref.json", tmp_path / "pred.json"
    done = panmatch("evaluate", *files, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(tmp_path / "out" / "scores.csv").set_index("class")
    expected = related.coco_pq(files[0], tmp_path / "ref", files[1], tmp_path / "pred")
    assert found.pq["cat"] == pytest.approx(expected[1].pq)
    assert found.pq["grass"] == pytest.approx(expected[2].pq)
    assert found.pq["cat"] == pytest.approx(0.6)
    summary = pd.read_csv(tmp_path / "out" / "summary.csv")
    mean = summary[(summary["class"] == "mean of classes") & (summary.measure == "pq")]
    assert mean.value.tolist() == pytest.approx([expected.all.pq] * 2)


def test_a_manifest_instead_of_folders(tmp_path: Path) -> None:
    make_folders(tmp_path, 1, models=("a", "b"))
    lines = ["case,reference,prediction,model"]
    lines += [f"p1,ref/case00.nii.gz,{model}/case00.nii.gz,{model}" for model in ("a", "b")]
    (tmp_path / "cases.csv").write_text("\n".join(lines))
    done = panmatch("evaluate", tmp_path / "cases.csv", "-o", tmp_path / "out")
    assert done.returncode == 0
    assert sorted(set(pd.read_csv(tmp_path / "out" / "scores.csv").model)) == ["a", "b"]


def test_part_images_of_both_sides(tmp_path: Path) -> None:
    whole = np.array([[1, 1, 1, 1, 0, 0]])
    halves, shifted = np.array([[1, 1, 2, 2, 0, 0]]), np.array([[1, 1, 1, 2, 0, 0]])
    for name, array in (("r", whole), ("p", whole), ("rp", halves), ("pp", shifted)):
        np.save(tmp_path / f"{name}.npy", array)
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "classes: {cell: {parts: [1, 2]}}\npart_background: none\n"
        "matching: one-to-one\nthresholds: 0.5"
    )
    files = [tmp_path / "r.npy", tmp_path / "p.npy"]
    parts = ["--reference-parts", tmp_path / "rp.npy", "--prediction-parts", tmp_path / "pp.npy"]
    done = panmatch("evaluate", *files, *parts, "--spec", spec, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = pd.read_csv(tmp_path / "out" / "scores.csv")
    assert found.pq.tolist() == [1.0]
    assert found.part_pq.tolist() == pytest.approx([(2 / 3 + 1 / 2) / 2])


def test_a_limit_that_is_missed_exits_with_3(tmp_path: Path) -> None:
    make_folders(tmp_path, 2)
    folders = tmp_path / "ref", tmp_path / "model"
    done = panmatch("evaluate", *folders, "-o", tmp_path / "a", "--fail-under", "pq=0.99")
    assert done.returncode == 3
    assert "pq is 0." in done.stderr
    assert "below 0.99" in done.stderr
    done = panmatch("evaluate", *folders, "-o", tmp_path / "b", "--fail-under", "pq=0.01")
    assert (done.returncode, done.stderr) == (0, NO_INTERVAL)
    spec = tmp_path / "distances.yaml"
    spec.write_text("metrics: [hd95]\nthresholds: [0.1]")
    for limit, code in (("sq_hd95=100", 0), ("sq_hd95=0.001", 3)):  # less is better
        done = panmatch("evaluate", *folders, "--spec", spec, "-o", tmp_path / limit,
                        "--fail-under", limit)  # fmt: skip
        assert done.returncode == code
        assert ("above 0.001" in done.stderr) == (code == 3)
    for wrong in ("pq", "pq=high", "qp=0.5"):
        done = panmatch(
            "evaluate", *folders, "-o", tmp_path / "b", "--fail-under", wrong, "--resume"
        )
        assert done.returncode == 2
        assert "--fail-under" in done.stderr


BAD_SIDES: dict[str, Callable[[Path], object]] = {
    "corrupt gzip": lambda path: path.write_bytes(path.read_bytes()[:-30] + b"\0" * 30),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "no image": lambda path: path.write_text("hello"),
    "empty": lambda path: path.write_bytes(b""),
    "another shape": lambda path: save_nifti(path, np.ones((4, 4, 4), np.uint8), SPACING),
    "another spacing": lambda path: save_nifti(path, scene(1), (1.0, 1.0, 1.0)),
    "probabilities": lambda path: nibabel.save(
        nibabel.Nifti1Image(np.full((18, 20, 14), 0.3), np.diag([*SPACING, 1.0])), path
    ),
    "missing": lambda path: path.unlink(),
}


@pytest.mark.parametrize("kind", BAD_SIDES)
def test_bad_input_fails_its_own_case_with_a_reason_and_nothing_else(
    tmp_path: Path, kind: str
) -> None:
    make_folders(tmp_path, 3)
    folders = tmp_path / "ref", tmp_path / "model"
    panmatch("evaluate", *folders, "-o", tmp_path / "good")
    BAD_SIDES[kind](tmp_path / "model" / "case01.nii.gz")
    done = panmatch("evaluate", *folders, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert "1 of 3 cases failed" in done.stderr
    assert "Traceback" not in done.stderr
    scores = pd.read_csv(tmp_path / "out" / "scores.csv").set_index("case")
    assert "case01.nii.gz" in scores.reason["case01"]
    assert "case01.nii.gz" in done.stdout
    good = pd.read_csv(tmp_path / "good" / "scores.csv").set_index("case")
    pd.testing.assert_frame_equal(scores.drop("case01"), good.drop("case01"), check_dtype=False)


def test_headers_that_disagree_are_printed_and_can_be_allowed(tmp_path: Path) -> None:
    make_folders(tmp_path, 1)
    save_nifti(tmp_path / "model" / "case00.nii.gz", scene(0), (1.0, 1.0, 2.0))
    folders = tmp_path / "ref", tmp_path / "model"
    done = panmatch("evaluate", *folders, "-o", tmp_path / "out")
    assert done.returncode == 1
    for text in ("spacing (0.5, 1, 2)", "spacing (1, 1, 2)", "--allow-header-mismatch"):
        assert text in " ".join(done.stdout.split())
    allowed = panmatch("evaluate", *folders, "-o", tmp_path / "out", "--resume",
                       "--allow-header-mismatch")  # fmt: skip
    assert allowed.returncode == 0
    said = "the headers of reference and prediction differ, and were ignored: voxels with the same"
    assert f"panmatch: warning: model: {said}" in allowed.stderr
    assert "headers of" not in done.stderr
    notices = json.loads((tmp_path / "out" / "run.json").read_text())["warnings"]
    assert [one["cases"] for one in notices if one["kind"] == "header-mismatch"] == [["case00"]]
    assert panmatch("report", tmp_path / "out").returncode == 0
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"<li>model: {said}" in report.split('class="cards"')[0]
    scores = pd.read_csv(tmp_path / "out" / "scores.csv")
    assert (scores.pq == 1).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ref", "nowhere"], "'nowhere' does not exist"),
        (["ref", "empty"], "contains no label file"),
        (["ref"], "PRED is missing"),
        (["ref", "model", "--model", "a=model"], "name all models with --model"),
        (["ref", "--model", "model"], "must be a name and a folder"),
        (["ref", "model", "--spec", "cels"], "did you mean 'cells'"),
        (["ref", "model", "--spec", "bad.yaml"], "did you mean 'thresholds'"),
        (["ref", "model", "--spacing", "1,x"], "--spacing '1,x'"),
        (["ref", "model", "-o", "ref/case00.nii.gz"], "cannot be written"),
        (["ref", "model", "-j", "0"], "Invalid value"),
        (["ref", "model", "--report", "--images", "no"], "--images 'no' is not a folder."),
        (["ref", "model", "--report", "--images", "empty"], "--images 'empty' contains no images."),
        (["ref", "model", "--images", "ref"], "--images adds pictures to the report: pass"),
    ],
)
def test_an_error_the_user_can_fix_is_one_line_with_exit_code_2(
    tmp_path: Path, arguments: list[str], message: str
) -> None:
    make_folders(tmp_path, 1)
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.yaml").write_text("threshold: 0.3\n")
    done = panmatch("evaluate", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_images_are_shown_below_labels_whenever_their_folder_is_given(tmp_path: Path) -> None:
    make_folders(tmp_path, 2)
    save_nifti(tmp_path / "images" / "case00_0000.nii.gz", scene(0), SPACING)
    images, out = tmp_path / "images", tmp_path / "out"
    done = panmatch("evaluate", tmp_path / "ref", tmp_path / "model", "-o", out, "--report",
                    "--images", images)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, NO_INTERVAL)
    first = (out / "report.html").read_text(encoding="utf-8")
    assert first.count("<image ") == 1
    assert str(images) not in (out / "run.json").read_text(encoding="utf-8")
    assert panmatch("report", out).returncode == 0
    assert "<image " not in (out / "report.html").read_text(encoding="utf-8")
    again = panmatch("report", out, "--images", images)
    assert (again.returncode, again.stderr) == (0, "")
    assert (out / "report.html").read_text(encoding="utf-8") == first
    missing = panmatch("report", out, "--images", tmp_path / "no")
    assert (missing.returncode, missing.stderr) == (
        2, f"panmatch: --images {str(tmp_path / 'no')!r} is not a folder.\n",
    )  # fmt: skip


@needs_posix
def test_an_interruption_exits_with_130_and_can_be_resumed(tmp_path: Path) -> None:
    labels = np.kron(scene(0), np.ones((6, 6, 6), np.uint8))
    for side in ("ref", "model"):
        first = tmp_path / side / "case00.nii.gz"
        save_nifti(first, labels, (1, 1, 1))
        for at in range(1, MANY):
            first.with_name(f"case{at:02}.nii.gz").symlink_to(first)
    for workers in (1, 2):
        out = tmp_path / f"out{workers}"
        arguments = ["evaluate", tmp_path / "ref", tmp_path / "model", "-o", out, "-j", workers]
        command = [sys.executable, "-m", "panmatch", *map(str, arguments)]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Programs that run in the background of a shell ignore interruptions, and so do theirs.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        lines = out / "cases.jsonl"
        while process.poll() is None and not (lines.exists() and lines.read_bytes().count(b"\n")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
        assert process.returncode == 130, errors
        assert "continue with --resume" in errors
        assert "Traceback" not in errors
        done = panmatch(*arguments, "--resume")
        assert done.returncode == 0
        assert len(pd.read_csv(out / "scores.csv").case.unique()) == MANY


def test_specs_are_listed_printed_and_written(tmp_path: Path) -> None:
    listed = panmatch("spec", "--list").stdout.splitlines()
    assert [line.split()[0] for line in listed if not line.startswith(" ")] == [
        "instances", "binary-components", "brats-mets", "cells", "cityscapes", "coco",
        "coco-instances", "liver-lesions", "vertebrae",
    ]  # fmt: skip
    assert panmatch("spec", "cells").stdout.startswith("# Cells or nuclei")
    path = tmp_path / "mine.yaml"
    assert panmatch("spec", "-o", path).returncode == 0
    assert pm.Spec() == read_spec(path)
    again = panmatch("spec", "-o", path)
    assert again.returncode == 2
    assert "exists" in again.stderr
    unknown = panmatch("spec", "cels")
    assert unknown.returncode == 2
    assert "did you mean 'cells'" in unknown.stderr


def test_version_help_and_completion_are_offered(tmp_path: Path) -> None:
    assert panmatch("--version").stdout == f"panmatch {pm.__version__}\n"
    helped = panmatch("--help").stdout
    for name in ("evaluate", "compare", "spec", "show", "demo", "--install-completion"):
        assert name in helped
    assert "130 interrupted" in " ".join(helped.split())
    unreadable = panmatch("show", tmp_path)
    assert unreadable.returncode == 2
    assert "is not an output folder of `panmatch evaluate`" in unreadable.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--spec", "cels"], "--spec 'cels' is not a preset; did you mean 'cells'?"),
        (["--spec", "no.yaml"], "--spec 'no.yaml' cannot be read"),
        (["--spacing", "1,1"], "--spacing 1,1 has 2 numbers, but the image has 3 axes"),
        (["--reference-parts", "ref.npy"], "--prediction-parts is missing: pass part images on"),
        (
            ["--reference-parts", "ref.npy", "--prediction-parts", "ref.npy"],
            "--reference-parts is given, but no class of the spec has parts",
        ),
        (["--spec", "parts.yaml"], "pass --reference-parts and --prediction-parts."),
    ],
)
def test_mistakes_are_told_in_options(tmp_path: Path, options: list[str], message: str) -> None:
    np.save(tmp_path / "ref.npy", scene(0))
    np.save(tmp_path / "pred.npy", scene(0))
    (tmp_path / "parts.yaml").write_text(
        "classes: {body: {labels: 1, parts: [8]}}\nbackground: 2-99"
    )
    done = panmatch("evaluate", "ref.npy", "pred.npy", "-o", "out", *options, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert message in " ".join((done.stdout + done.stderr).split())


def test_a_score_to_compare_by_is_told_as_an_option(tmp_path: Path) -> None:
    make_folders(tmp_path, 2, models=("a", "b"))
    out = tmp_path / "out"
    models = [f"--model={name}={tmp_path / name}" for name in ("a", "b")]
    assert panmatch("evaluate", tmp_path / "ref", *models, "-o", out).returncode == 0
    done = panmatch("compare", out, "--score", "pk")
    assert (done.returncode, done.stderr.partition("Accepted")[0]) == (
        2,
        "panmatch: --score 'pk' is not known; did you mean 'pq'? ",
    )


def test_the_report_has_the_title_that_is_given(tmp_path: Path) -> None:
    make_folders(tmp_path, 1)
    places = "evaluate", tmp_path / "ref", tmp_path / "model", "-o", tmp_path / "out"
    alone = panmatch(*places, "--title", "Fold 0")
    assert alone.returncode == 2
    assert alone.stderr == "panmatch: --title is the title of the report: pass --report as well.\n"
    assert not (tmp_path / "out").exists()
    assert panmatch(*places, "--report", "--title", "Fold <0>").returncode == 0
    report = tmp_path / "out" / "report.html"
    assert "<h1><bdi>Fold &lt;0&gt;</bdi></h1>" in report.read_text(encoding="utf-8")
    again = panmatch("report", tmp_path / "out", "--title", "Again")
    assert again.returncode == 0, again.stderr
    assert "<h1><bdi>Again</bdi></h1>" in report.read_text(encoding="utf-8")
