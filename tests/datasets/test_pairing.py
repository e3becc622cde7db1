"""Which files belong together."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from panmatch.datasets import DatasetPaths, find_pairs, pair, read_manifest
from panmatch.errors import FileError, OptionError, PanmatchError
from tests.datasets.folders import make_folders, names, run
from tests.datasets.made_up import CASES, make_nnunet
from tests.platforms import needs_links


def touch(folder: Path, *files: str) -> Path:
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.zeros(1, np.int64)) if path.suffix == ".npy" else path.touch()
    return folder


def test_equal_names_pair_whatever_their_suffix_and_folder(tmp_path: Path) -> None:
    ref = touch(tmp_path / "ref", "a.nii.gz", "sub/b.1.nii", "sub/notes.txt", ".hidden.nii")
    pred = touch(tmp_path / "pred", "sub/b.1.mha", "a.npy")
    cases = pair(DatasetPaths(ref, {"net": pred}))
    assert [(case.name, case.model, case.problem) for case in cases] == [
        ("a", "net", ""),
        ("sub/b.1", "net", ""),
    ]
    assert [case.reference.path for case in cases if case.reference] == [
        ref / "a.nii.gz",
        ref / "sub" / "b.1.nii",
    ]
    assert [case.prediction.path for case in cases if case.prediction] == [
        pred / "a.npy",
        pred / "sub" / "b.1.mha",
    ]


def test_a_case_without_partner_is_listed_with_its_problem(tmp_path: Path) -> None:
    ref = touch(tmp_path / "ref", "a.nii", "b.nii")
    pred = touch(tmp_path / "pred", "b.nii", "c.nii")
    cases = pair(DatasetPaths(ref, {"net": pred}))
    assert names(cases) == ["a", "b", "c"]
    assert cases[0].problem == f"there is no prediction for {str(ref / 'a.nii')!r}"
    assert cases[1].problem == ""
    assert cases[2].problem == f"there is no reference for {str(pred / 'c.nii')!r}"


def test_patterns_tell_sides_and_models_apart(tmp_path: Path) -> None:
    both = touch(
        tmp_path, "p7_ref.nii.gz", "p7_pred_u_net.nii.gz", "p7_pred_cnn.nii.gz", "p7_image.nii.gz"
    )
    patterns = ("{case}_ref.*", "{case}_pred_{model}.*")
    cases = pair(DatasetPaths(both, {"x": both}, patterns))
    assert sorted((case.name, case.model) for case in cases) == [("p7", "cnn"), ("p7", "u_net")]
    assert {case.reference.path.name for case in cases if case.reference} == {"p7_ref.nii.gz"}


def test_one_pattern_holds_for_both_sides_and_a_repeated_name_must_agree(tmp_path: Path) -> None:
    ref = touch(tmp_path / "ref", "p1/p1_seg.nii", "p2/p3_seg.nii")
    pred = touch(tmp_path / "pred", "p1/p1_seg.nii")
    assert names(pair(DatasetPaths(ref, {"m": pred}, ("{case}/{case}_seg.nii",)))) == ["p1"]


def test_two_files_are_one_case_whatever_their_names(tmp_path: Path) -> None:
    folder = touch(tmp_path, "gold.nii.gz", "mine.npy")
    (case,) = pair(DatasetPaths(folder / "gold.nii.gz", {"net": folder / "mine.npy"}))
    assert (case.name, case.problem) == ("gold", "")


def test_part_images_go_with_their_case(tmp_path: Path) -> None:
    for side in ("ref", "pred", "ref_parts", "pred_parts"):
        touch(tmp_path / side, "a.nii")
    paths = DatasetPaths(
        tmp_path / "ref",
        {"m": tmp_path / "pred"},
        reference_parts=tmp_path / "ref_parts",
        prediction_parts={"m": tmp_path / "pred_parts"},
    )
    (case,) = pair(paths)
    assert case.reference is not None
    assert case.prediction is not None
    assert case.reference.parts == tmp_path / "ref_parts" / "a.nii"
    assert case.prediction.parts == tmp_path / "pred_parts" / "a.nii"


def test_a_zarr_store_is_one_file(tmp_path: Path) -> None:
    ref = touch(tmp_path / "ref", "a.zarr/zarr.json", "a.zarr/c/0.nii")
    pred = touch(tmp_path / "pred", "a.npy")
    assert names(pair(DatasetPaths(ref, {"m": pred}))) == ["a"]


def ignored(reference: Path, prediction: Path, *patterns: str) -> list[str]:
    """Return what is said about ignored files, the folders aside."""
    notices = find_pairs(DatasetPaths(reference, {"m": prediction}, patterns)).notices
    assert {notice.kind for notice in notices} <= {"ignored-files"}
    return [f"{one.text.split(' in ')[0]}: {one.text.split(': ', 1)[1]}" for one in notices]


def test_an_archive_beside_a_label_image_is_not_a_second_one(tmp_path: Path) -> None:
    ref = touch(tmp_path / "ref", "a.nii.gz", "b.nii.gz", "sub/a.npz", "c.npz")
    pred = touch(tmp_path / "pred", "a.nii.gz", "a.npz", "a.pkl", "b.tif", "b.NPZ", "sub/a.npz",
                 "c.npz", "plans.json")  # fmt: skip
    cases = pair(DatasetPaths(ref, {"m": pred}))
    assert [(case.name, case.prediction.path.name) for case in cases if case.prediction] == [
        ("a", "a.nii.gz"),
        ("b", "b.tif"),
        ("c", "c.npz"),
        ("sub/a", "a.npz"),
    ]
    assert ignored(ref, pred) == [
        "4 files: a.npz, b.NPZ next to label images of the same name, a.pkl, plans.json."
    ]


def test_two_archives_or_an_array_and_an_image_are_still_two_files_of_one_case(
    tmp_path: Path,
) -> None:
    ref, pred = touch(tmp_path / "ref", "a.nii"), touch(tmp_path / "pred", "a.npy", "a.nii")
    with pytest.raises(FileError, match="are both case 'a'"):
        pair(DatasetPaths(ref, {"m": pred}))


def test_what_is_ignored_is_counted_by_kind_and_hidden_files_are_left_alone(tmp_path: Path) -> None:
    ref = touch(tmp_path / "ref", "a.nii", ".DS_Store", "._a.nii", ".git/config")
    pred = touch(tmp_path / "pred", "a.nii", "1.txt", "2.txt", "3.TXT", "Thumbs.db", "README")
    assert ignored(ref, pred) == ["5 files: 3 *.txt, README, Thumbs.db."]


def test_what_does_not_fit_the_pattern_is_counted_too(tmp_path: Path) -> None:
    ref = touch(tmp_path / "ref", *(f"p1/p1-{kind}.nii.gz" for kind in ("t1", "t2", "fl", "seg")))
    pred = touch(tmp_path / "pred", "p1.nii.gz")
    patterns = ("{case}/{case}-seg.nii.gz", "{case}.nii.gz")
    assert ignored(ref, pred, *patterns) == ["3 files: 3 *.nii.gz that do not fit the pattern."]


@pytest.mark.parametrize("given", ["fold_0", "fold_0/validation", "."])
def test_the_predictions_of_an_nnunet_model_are_those_of_its_folds(
    tmp_path: Path, given: str
) -> None:
    references, fold = make_nnunet(tmp_path)
    cases = pair(DatasetPaths(references, {"net": fold.parent / given}))
    assert [case.name for case in cases if case.prediction] == list(CASES[:2])
    assert [case.name for case in cases if case.reference] == list(CASES)
    assert all(case.of_some_folds for case in cases)
    assert not any(case.of_some_folds for case in pair(DatasetPaths(references, {"r": references})))


def test_files_of_an_nnunet_fold_are_said_to_be_ignored(tmp_path: Path) -> None:
    references, fold = make_nnunet(tmp_path)
    assert ignored(references, fold) == [
        "12 files: liver_000.npz, liver_001.npz next to label images of the same name, "
        "checkpoint_best.pth, checkpoint_final.pth, 4 *.json, progress.png, "
        "training_log_2024_5_1_10_00_00.txt, liver_000.pkl, liver_001.pkl."
    ]


def test_a_picture_of_training_is_not_a_label_image_but_a_case_may_be_called_progress(
    tmp_path: Path,
) -> None:
    ref = touch(tmp_path / "ref", "a.png", "progress.png")
    pred = touch(tmp_path / "pred", "a.png", "progress.png")
    assert names(pair(DatasetPaths(ref, {"m": pred}))) == ["a", "progress"]
    touch(pred, "checkpoint_final.pth")
    cases = pair(DatasetPaths(ref, {"m": pred}))
    assert [case.prediction is None for case in cases] == [False, True]


def test_a_case_that_two_folds_predict_is_an_error_that_names_both(tmp_path: Path) -> None:
    references, fold = make_nnunet(tmp_path)
    touch(fold.parent / "fold_1" / "validation", f"{CASES[0]}.nii.gz")
    with pytest.raises(FileError, match=r"fold_0.*fold_1.*are both case 'liver_000'"):
        pair(DatasetPaths(references, {"net": fold.parent}))


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        (("*.nii",), r"must contain \{case\} where the name of the case is"),
        (("{case}_{rater}.nii",), r"contains \{rater\}, which is not known"),
        (("{case}.nii",) * 3, "more than twice"),
        (("{case}.mha",), "contains no label file that fits the pattern"),
    ],
)
def test_a_pattern_that_cannot_be_meant_is_an_error(
    tmp_path: Path, patterns: tuple[str, ...], message: str
) -> None:
    ref, pred = touch(tmp_path / "ref", "a.nii"), touch(tmp_path / "pred", "a.nii")
    with pytest.raises(PanmatchError, match=message):
        pair(DatasetPaths(ref, {"m": pred}, patterns))


def test_folders_without_a_common_name_show_both_and_the_remedy(tmp_path: Path) -> None:
    ref, pred = touch(tmp_path / "ref", "a_gold.nii"), touch(tmp_path / "pred", "a_net.nii")
    with pytest.raises(FileError, match=r"REF has 'a_gold'; PRED has 'a_net'.*--pattern"):
        pair(DatasetPaths(ref, {"m": pred}))


def test_two_files_of_one_case_are_an_error_that_names_both(tmp_path: Path) -> None:
    ref, pred = touch(tmp_path / "ref", "a.nii", "a.npy"), touch(tmp_path / "pred", "a.nii")
    with pytest.raises(FileError, match=r"a\.nii' and .*a\.npy' are both case 'a'"):
        pair(DatasetPaths(ref, {"m": pred}))


def test_empty_and_missing_folders_and_mixtures_are_errors(tmp_path: Path) -> None:
    ref, empty = touch(tmp_path / "ref", "a.nii"), tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(FileError, match=r"PRED='.*empty' contains no label file"):
        pair(DatasetPaths(ref, {"m": empty}))
    with pytest.raises(FileError, match=r"path='.*nowhere' does not exist"):
        pair(DatasetPaths(ref, {"m": tmp_path / "nowhere"}))
    with pytest.raises(OptionError, match="is a file, but others are folders"):
        pair(DatasetPaths(ref, {"m": ref / "a.nii"}))
    with pytest.raises(OptionError, match="PRED is missing"):
        pair(DatasetPaths(ref, {}))


def test_a_manifest_names_cases_models_and_parts(tmp_path: Path) -> None:
    manifest = tmp_path / "cases.csv"
    manifest.write_text(
        "Case,reference,prediction,model,note,reference_parts,prediction_parts\n"
        "p1,ref/1.nii,net/1.nii,net,good,,\n"
        "\n"
        "p1,ref/1.nii,cnn/1.nii,cnn,,parts/1.nii,cnn/parts.nii\n",
        encoding="utf-8-sig",
    )
    first, second = read_manifest(manifest)
    assert (first.name, first.model, second.model) == ("p1", "net", "cnn")
    assert first.reference is not None
    assert second.prediction is not None
    assert first.reference.path == tmp_path / "ref" / "1.nii"
    assert first.reference.parts is None
    assert second.prediction.parts == tmp_path / "cnn" / "parts.nii"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("case,reference\na,b\n", "'prediction' is missing"),
        ("", "'case' is missing"),
        ("case,reference,prediction\n", "lists no case"),
        ("case,reference,prediction\na,,c\n", "line 2: reference is empty"),
        ("case,reference,prediction\na,b,c\na,b,d\n", "line 3: case 'a' is listed twice"),
    ],
)
def test_an_invalid_manifest_says_what_is_missing(tmp_path: Path, text: str, message: str) -> None:
    manifest = tmp_path / "cases.csv"
    manifest.write_text(text)
    with pytest.raises(FileError, match=message):
        read_manifest(manifest)


@needs_links
def test_links_that_lead_back_are_followed_no_further(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 2)
    for side in ("ref", "model"):
        (tmp_path / side / "below").mkdir()
        (tmp_path / side / "below" / "up").symlink_to(tmp_path / side)
        (tmp_path / side / "self").symlink_to(tmp_path / side / "self")
    assert names(pair(paths)) == ["case00", "case01"]


@needs_links
def test_a_link_to_another_folder_is_followed(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 1)
    for side in ("ref", "model"):
        (tmp_path / f"more_{side}").mkdir()
        source = tmp_path / side / "case00.nii.gz"
        (tmp_path / f"more_{side}" / "x.nii.gz").write_bytes(source.read_bytes())
        (tmp_path / side / "more").symlink_to(tmp_path / f"more_{side}")
    assert names(pair(paths)) == ["case00", "more/x"]


def test_bytes_of_a_file_name_that_are_not_text_are_spelt_out(tmp_path: Path) -> None:
    paths = make_folders(tmp_path, 1)
    for side in ("ref", "model"):
        odd = os.fsdecode(b"caf\xe9.nii.gz")
        (tmp_path / side / "case00.nii.gz").rename(tmp_path / side / odd)
    assert names(pair(paths)) == ["caf\\xe9"]
    assert not run(paths, tmp_path / "out").failures
    assert "caf\\xe9" in (tmp_path / "out" / "scores.csv").read_text()
