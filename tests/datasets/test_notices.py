"""What a run warns of: the same files, label maps read as objects, shifted ids, few cases."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import yaml

import panmatch as pm
from panmatch import phantoms
from panmatch.cli._compare import run_compare
from panmatch.datasets import (
    DatasetPaths,
    Job,
    RunOptions,
    compare,
    listed_notices,
    load_run,
    pair,
    run_dataset,
    summary_table,
)
from panmatch.datasets import _notices as notices
from panmatch.datasets._notices import few_cases
from panmatch.evaluation import Notice, Result
from panmatch.spec import as_spec, read_spec
from tests.platforms import needs_links

Labels = npt.NDArray[np.integer[Any]]

SPEC: dict[str, Any] = {"metrics": []}
SHARED = Path(__file__).parents[3] / "shared" / "data"


def save(path: Path, labels: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, labels)


def warned(folder: Path, models: Any = "pred", spec: Any = None, **options: Any) -> list[Notice]:
    """Return the warnings of a run over the folders ref and `models`."""
    places = {models: folder / models} if isinstance(models, str) else models
    paths = DatasetPaths(folder / "ref", places)
    job = Job(as_spec(SPEC if spec is None else spec).canonical())
    run_dataset(pair(paths), job, folder / "out", RunOptions(overwrite=True, **options))
    return listed_notices(folder / "out")


def kinds(found: Sequence[Notice]) -> list[str]:
    return [notice.kind for notice in found]


def lesions(seed: int, n: int = 9, classes: int = 3) -> Labels:
    """A semantic label map: blobs, each labelled with its class."""
    blobs = phantoms.blobs((60, 70), n, radius=(3, 5), gap=2, seed=seed)
    return np.where(blobs > 0, (blobs - 1) % classes + 1, 0)


def objects(seed: int) -> Labels:
    return phantoms.blobs((40, 40), 5, radius=(3, 4), seed=seed)


def write_cases(folder: Path, n: int, make: Callable[[int], Labels]) -> None:
    """Write n references, and predictions that lack a row of voxels."""
    for at in range(n):
        reference = make(at)
        save(folder / "ref" / f"c{at}.npy", reference)
        prediction = reference.copy()
        prediction[np.argwhere(reference)[0][0]] = 0
        save(folder / "pred" / f"c{at}.npy", prediction)


def linked(folder: Path, link: Callable[[Path, Path], object]) -> Path:
    """Return a folder of links to the references."""
    (folder / "pred").mkdir()
    for path in (folder / "ref").iterdir():
        link(folder / "pred" / path.name, path)
    return folder / "pred"


LINKS: dict[str, Callable[[Path], Path]] = {
    "the folder itself": lambda folder: folder / "ref",
    "by another way": lambda folder: folder / "ref" / ".." / "ref",
    "links to files": lambda folder: linked(folder, Path.symlink_to),
    "hard links": lambda folder: linked(folder, Path.hardlink_to),
}


@needs_links
@pytest.mark.parametrize("how", LINKS)
def test_the_same_files_on_both_sides_are_said(tmp_path: Path, how: str) -> None:
    for at in range(2):
        save(tmp_path / "ref" / f"c{at}.npy", objects(at))
    found = warned(tmp_path, {"m": LINKS[how](tmp_path)})
    assert kinds(found) == ["same-files", "few-cases"]
    assert found[0].text.startswith("2 of 2 cases compare a file with itself (c0, c1)")
    assert (found[0].cases, found[0].model) == (("c0", "c1"), "m")


@needs_links
def test_only_the_cases_that_share_a_file_are_named(tmp_path: Path) -> None:
    write_cases(tmp_path, 3, objects)
    (tmp_path / "pred" / "c1.npy").unlink()
    (tmp_path / "pred" / "c1.npy").symlink_to(tmp_path / "ref" / "c1.npy")
    found = warned(tmp_path)
    assert found[0].text.startswith("1 of 3 cases compare a file with itself (c1)")
    assert found[0].cases == ("c1",)


def test_copies_have_other_files_but_perfect_scores(tmp_path: Path) -> None:
    write_cases(tmp_path, 2, objects)
    assert kinds(warned(tmp_path)) == ["few-cases"]
    shutil.copytree(tmp_path / "ref", tmp_path / "copy")
    found = warned(tmp_path, {name: tmp_path / name for name in ("copy", "pred")})
    assert [(one.kind, one.model) for one in found][:1] == [("perfect-scores", "copy")]
    assert kinds(found).count("perfect-scores") == 1
    labels = np.load(tmp_path / "copy" / "c1.npy")
    labels[tuple(np.argwhere(labels)[0])] = 0  # a single voxel
    save(tmp_path / "copy" / "c1.npy", labels)
    assert kinds(warned(tmp_path, "copy")) == ["few-cases"]


def test_images_without_objects_are_not_perfect(tmp_path: Path) -> None:
    for side in ("ref", "pred"):
        save(tmp_path / side / "c0.npy", np.zeros((4, 4), int))
    assert warned(tmp_path) == []


def test_labels_in_many_components_look_like_classes(tmp_path: Path) -> None:
    write_cases(tmp_path, 2, lesions)
    found = warned(tmp_path)
    assert kinds(found) == ["semantic-labels", "few-cases"]
    assert found[0].text.startswith(
        "labels 1, 2, 3 of the references form 18 connected components (c0, c1), but each label "
        "counts as one object per case."
    )
    assert "--spec binary-components" in found[0].text
    # The first row of the prediction is missing; with the spec, objects are components.
    (tmp_path / "ready.yaml").write_text(found[0].spec)
    spec = read_spec(tmp_path / "ready.yaml")
    assert list(spec.classes) == ["label_1", "label_2", "label_3"]
    assert yaml.safe_load(found[0].spec) == {
        "classes": {f"label_{k}": {"labels": k, "instances": "components"} for k in (1, 2, 3)}
    }
    result = pm.evaluate(reference=lesions(0), prediction=lesions(0), spec=spec)
    assert [len(entry.diagnosis.missed) for entry in result.cases[0].entries] == [0] * 9
    assert result.scores[result.scores.strategy == "one-to-one"].tp.tolist() == [3] * 9
    assert kinds(warned(tmp_path, spec=spec)) == ["few-cases"]
    assert kinds(warned(tmp_path, spec="binary-components")) == ["few-cases"]


def test_a_mask_is_one_label_in_many_components(tmp_path: Path) -> None:
    write_cases(tmp_path, 1, lambda at: lesions(at, classes=1))
    (found,) = warned(tmp_path)
    assert found.text.startswith("label 1 of the references forms 9 connected components (c0)")


def test_three_components_per_label_are_many_and_specks_are_none() -> None:
    def found(*runs: int) -> dict[int, int]:
        row = [label for run in runs for label in (*([run] * 3), 0)]
        return notices.count_pieces(np.array([[*row, 2, 2, 0, 2]]))

    assert found(1, 1, 1, 2) == {1: 3, 2: 1}
    assert notices.count_pieces(np.array([[1, 1, 2, 2, 2]])) == {2: 1}


@pytest.mark.parametrize(("pieces", "expected"), [(2, []), (3, ["semantic-labels"])])
def test_the_bound_is_three_components_per_label(
    tmp_path: Path, pieces: int, expected: list[str]
) -> None:
    row = [label * (at < 3) for label in (1, 2) for _ in range(pieces) for at in range(4)]
    save(tmp_path / "ref" / "c.npy", np.array([row]))
    save(tmp_path / "pred" / "c.npy", np.array([[0, *row[1:]]]))
    assert kinds(warned(tmp_path)) == expected


def test_objects_with_ids_raise_no_warning(tmp_path: Path) -> None:
    write_cases(tmp_path, 2, lambda at: phantoms.blobs((60, 70), 9, radius=(3, 5), seed=at))
    assert kinds(warned(tmp_path)) == ["few-cases"]


def test_few_references_are_looked_at_and_none_with_many_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    looked: Any = notices._read_again

    def read(path: Path, spec: pm.Spec) -> Any:
        seen.append(path.name)
        return looked(path, spec)

    monkeypatch.setattr(notices, "_read_again", read)
    write_cases(tmp_path / "few", 5, lesions)
    save(tmp_path / "few" / "ref" / "c0.npy", np.pad(lesions(0), 3))
    save(tmp_path / "few" / "pred" / "c0.npy", np.pad(lesions(1), 3))
    assert kinds(warned(tmp_path / "few"))[0] == "semantic-labels"
    assert seen == ["c1.npy", "c2.npy", "c3.npy"]  # the smallest
    seen.clear()
    many = np.tile([[label * (at < 3) for label in range(1, 22) for at in range(4)]], (1, 3))
    write_cases(tmp_path / "many", 1, lambda _: np.concatenate([many, 0 * many, many]))
    assert warned(tmp_path / "many") == []
    assert seen == []


def test_a_reference_that_is_gone_or_large_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_cases(tmp_path, 1, lesions)
    assert kinds(warned(tmp_path)) == ["semantic-labels"]
    paths = DatasetPaths(tmp_path / "ref", {"pred": tmp_path / "pred"})
    cases, result = pair(paths), load_run(tmp_path / "out")
    monkeypatch.setattr(notices, "MOST_VOXELS", 60 * 70 - 1)
    assert notices.semantic_labels(result, cases) == []
    monkeypatch.undo()
    (tmp_path / "ref" / "c0.npy").unlink()
    assert notices.semantic_labels(result, cases) == []


def test_shifted_ids_of_a_run_are_said_once(tmp_path: Path) -> None:
    for at in range(4):
        labels = objects(at)
        save(tmp_path / "ref" / f"c{at}.npy", labels)
        save(tmp_path / "pred" / f"c{at}.npy", np.where(labels, labels + 1, 0))
    found = warned(tmp_path, spec=SPEC | {"matching": ["one-to-one", "same-id"]}, workers=2)
    assert kinds(found) == ["shifted-ids", "few-cases"]
    assert found[0].text.endswith("(4 of 4 cases: c0, c1, c2 and 1 more)")
    assert found[0].cases == ("c0", "c1", "c2", "c3")
    assert kinds(warned(tmp_path, spec=SPEC)) == ["perfect-scores", "few-cases"]


def test_run_json_has_kind_text_and_cases_and_resuming_keeps_them(tmp_path: Path) -> None:
    write_cases(tmp_path, 2, lesions)
    found = warned(tmp_path)
    stored = json.loads((tmp_path / "out" / "run.json").read_text())["warnings"]
    assert [{key: one[key] for key in ("kind", "text", "cases")} for one in stored] == [
        {"kind": one.kind, "text": one.text, "cases": list(one.cases)} for one in found
    ]
    paths = DatasetPaths(tmp_path / "ref", {"pred": tmp_path / "pred"})
    job = Job(as_spec(SPEC).canonical())
    run_dataset(pair(paths), job, tmp_path / "out", RunOptions(resume=True))
    assert listed_notices(tmp_path / "out") == found


def made(n: int, spec: Any = SPEC, models: tuple[str, ...] = ("",)) -> Result:
    """Return n cases of every model, each with its own score."""
    evaluator = pm.Evaluator(spec)
    for model in models:
        for at in range(n):
            reference = np.array([1] * 20 + [2] * (at < 3))
            prediction = np.where(np.arange(len(reference)) < 12 + at % 7, reference, 0)
            name = f"c{at:02}"
            evaluator.update(reference=reference, prediction=prediction, case=name, model=model)
    return evaluator.compute()


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (1, []),
        (2, ["no interval: 2 cases are too few (at least 5 are needed)."]),
        (4, ["no interval: 4 cases are too few (at least 5 are needed)."]),
        (5, ["the 95 % intervals rest on 5 cases and may be too narrow: with 5 cases, 86 to "
             "96 % of such intervals contain the true score."]),
        (19, ["the 95 % intervals rest on 19 cases and may be too narrow: with 10 cases, 83 to "
              "96 % of such intervals contain the true score."]),
        (20, []),
    ],
)  # fmt: skip
def test_few_cases_are_said(n: int, expected: list[str]) -> None:
    found = few_cases(made(n))
    assert [(one.kind, one.text) for one in found] == [("few-cases", text) for text in expected]


def test_classes_that_occur_in_few_cases_are_named() -> None:
    spec = SPEC | {"classes": {"often": {"labels": 1}, "rare": {"labels": 2}, "x": {"labels": 3}}}
    texts = [one.text for one in few_cases(made(30, spec))]
    assert texts == ["no interval for rare (3 cases): at least 5 cases are needed."]
    texts = [one.text for one in few_cases(made(8, spec))]
    assert texts[1].startswith("some 95 % intervals rest on few cases, often (8 cases), and may")


def test_below_five_cases_tables_have_no_interval_and_no_first_share() -> None:
    for n, defined in ((4, False), (5, True)):
        result = made(n, models=("a", "b"))
        summary = summary_table(result).frame()
        assert summary.low.notna().any() == summary.high.notna().any() == defined
        found = compare(result)
        rankings, differences = found.tables()["rankings"], found.tables()["differences"]
        for column in (rankings.low, rankings.high, rankings.first_share, differences.low):
            assert column.notna().all() == column.notna().any() == defined
        assert rankings.value.notna().all()
        assert differences.p.notna().all()  # exact, whatever the number
        assert kinds(found.notices) == ["few-cases"]


def test_a_case_without_a_score_does_not_count_for_the_interval() -> None:
    evaluator = pm.Evaluator(SPEC)
    for model in "ab":
        for at in range(5):
            labels = [[0, 0]] if at == 0 else [[1, 1]]
            evaluator.update(reference=labels, prediction=labels, case=str(at), model=model)
    result = evaluator.compute()
    assert set(summary_table(result).frame().cases) == {4}
    assert summary_table(result).frame().low.isna().all()
    found = compare(result).tables()
    assert found["rankings"].low.isna().all()
    assert found["rankings"].first_share.isna().all()


def test_comparing_prints_dashes_and_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_cases(tmp_path, 3, lesions)
    save(tmp_path / "far" / "c0.npy", lesions(5))
    for at in (1, 2):
        save(tmp_path / "far" / f"c{at}.npy", lesions(5 + at))
    warned(tmp_path, {name: tmp_path / name for name in ("pred", "far")})
    run_compare([tmp_path / "out"], [], None)
    out, err = capsys.readouterr()
    assert "[" not in out.split("Rank stability")[0]
    assert "first in" not in out
    assert "Ranking by PQ (object, mean of cases):" in out
    assert "Wilcoxon" in out
    assert err.count("\n") == len(err.splitlines()) == 2 + 4
    assert "panmatch: warning: labels 1, 2, 3 of the references" in err
    assert err.endswith(
        "panmatch: warning: no interval: 3 cases are too few (at least 5 are needed).\n"
    )


REAL: dict[str, tuple[str, bool]] = {
    "brats_glioma_models/case3_ref_staple.nii.gz": ("instances", True),
    "brats_glioma_models/ref_fusion_simple.nii.gz": ("instances", True),
    "spine_mri_panoptica/ref_semantic.nii.gz": ("instances", True),
    "wbc_cell_nucleus_parts/ref_parts.tif": ("cells", True),
    # Missed: classes, but of three vertebrae only, with 2.9 components each.
    "spine_ct_verse_tptbox/tptbox_sub-ct_seg-subreg_label-22_msk.nii.gz": ("instances", False),
    # The noisiest objects that we have: 2.0 components each.
    "spine_ct_verse_tptbox/tptbox_sub-mri_seg-vert_label-6_msk.nii.gz": ("instances", False),
    "wbc_cell_nucleus_parts/ref_instance.tif": ("cells", False),
    "spine_ct_verse_tptbox/verse004_ref_vertebrae.nii.gz": ("vertebrae", False),
    "lidc_nodules_4raters/LIDC-IDRI-0686_rater3.nii.gz": ("instances", False),
    "nuclei3d_platynereis/ref_gt.tif": ("cells", False),
}


@pytest.mark.parametrize("name", REAL)
def test_real_label_maps_are_told_from_real_objects(name: str, tmp_path: Path) -> None:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"no data at {path}")
    preset, semantic = REAL[name]
    paths = DatasetPaths(path, {"itself": path})
    spec = as_spec({"preset": preset, "metrics": [], "curve": False, "matching": "one-to-one"})
    run_dataset(pair(paths), Job(spec.canonical()), tmp_path, RunOptions(overwrite=True))
    found = kinds(listed_notices(tmp_path))
    assert found == (["same-files", "semantic-labels"] if semantic else ["same-files"])
