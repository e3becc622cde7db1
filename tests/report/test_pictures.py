"""Pictures of cases: what is drawn where, whichever way an image is stored."""

from __future__ import annotations

import base64
import re
from io import BytesIO
from itertools import permutations, product
from pathlib import Path

import nibabel
import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

import panmatch as pm
from panmatch.datasets import DatasetPaths, Job, RunOptions, pair, run_dataset
from panmatch.errors import OptionError
from panmatch.formats import LabelImage
from panmatch.labels import LabelArray
from panmatch.report import write_report
from panmatch.report._case_pictures import (
    LONGEST_SIDE,
    MOST_EDGES,
    CasePicture,
    Drawing,
    draw_case,
    image_notes,
)
from panmatch.report._matched_class import (
    MatchedClass,
    ShownMistake,
    largest_mistake,
    match_class,
    statuses_of,
)
from panmatch.report._outlines import outline_path
from panmatch.spec import as_spec
from tests.datasets.folders import make_folders

Grid = npt.NDArray[np.bool_]


def matched(reference: npt.ArrayLike, prediction: npt.ArrayLike, **spec: object) -> MatchedClass:
    given = as_spec({"thresholds": [0.5], **spec})
    ref, pred = np.asarray(reference), np.asarray(prediction)
    return match_class(given, reference=ref, prediction=pred)


def filled(path: str, shape: tuple[int, ...]) -> Grid:
    """Return the voxels inside of a path by the even-odd rule: left of each, edges are counted."""
    edges = np.zeros((shape[0], shape[1] + 1), np.int64)
    for x0, y0, runs in re.findall(r"M(\d+) (\d+)((?:[hv]-?\d+)*)z", path):
        x, y = int(x0), int(y0)
        corners = [(x, y)]
        for way, length in re.findall(r"([hv])(-?\d+)", runs):
            x, y = (x + int(length), y) if way == "h" else (x, y + int(length))
            corners.append((x, y))
        for (xa, ya), (xb, yb) in zip(corners, [*corners[1:], corners[0]], strict=True):
            assert xa == xb or ya == yb  # outlines run along voxels
            if xa == xb:
                edges[min(ya, yb) : max(ya, yb), xa] += 1
    inside: Grid = edges.cumsum(axis=1)[:, :-1] % 2 == 1
    return inside


def paths(drawing: Drawing) -> dict[tuple[str, str], str]:
    return {(layer.side, layer.status): layer.path for layer in drawing.layers}


def decoded(url: str) -> npt.NDArray[np.uint8]:
    _, content = url.split("base64,")
    return np.array(Image.open(BytesIO(base64.b64decode(content))).convert("L"))


def quarters() -> tuple[LabelArray, LabelArray]:
    """Return four squares: found, missed, spurious, and one that void dismisses."""
    reference, prediction = np.zeros((100, 100), np.int32), np.zeros((100, 100), np.int32)
    reference[10:40, 10:40], prediction[10:40, 10:40] = 1, 5
    reference[10:40, 60:90] = 2
    prediction[60:90, 10:40] = 6
    prediction[60:85, 60:85] = 7
    return reference, prediction


# Outlines


@pytest.mark.parametrize("seed", range(20))
def test_outlines_enclose_exactly_the_voxels_of_their_objects(seed: int) -> None:
    labels = np.random.default_rng(seed).integers(0, 4, (9, 12))  # touching, diagonal, with holes
    for ids in ({1}, {2, 3}, {1, 2, 3}):
        assert np.array_equal(filled(outline_path(labels, ids), (9, 12)), np.isin(labels, [*ids]))


def test_touching_objects_have_a_line_between_them() -> None:
    labels = np.array([[1, 1, 2, 2]])
    assert outline_path(labels, {1, 2}) == "M0 0h2v1h-2zM2 0h2v1h-2z"


def test_straight_runs_are_one_step() -> None:
    labels = np.zeros((300, 200), np.int64)
    labels[5:295, 7:100] = 3
    assert outline_path(labels, {3}) == "M7 5h93v290h-93z"
    assert outline_path(labels, {4}) == ""


# What is drawn


def test_layers_tell_the_status() -> None:
    reference, prediction = quarters()
    void = np.zeros((100, 100), np.uint8)
    void[60:90, 60:90] = 1
    found = match_class(
        as_spec({"thresholds": [0.5]}), reference=reference, prediction=prediction, void=void
    )
    drawing = draw_case(found)
    # Objects span rows and columns 10 to 90, and the margin is 8 % of that.
    crop = np.s_[4:96, 4:96]
    assert (drawing.width, drawing.height) == (480, 480)
    assert drawing.scale == pytest.approx((480 / 92, 480 / 92))
    expected = {
        ("reference", "matched"): reference == 1,
        ("reference", "missed"): reference == 2,
        ("prediction", "matched"): prediction == 5,
        ("prediction", "false positive"): prediction == 6,
        ("prediction", "other"): prediction == 7,
    }
    drawn = paths(drawing)
    assert list(drawn) == list(expected)
    for key, mask in expected.items():
        assert np.array_equal(filled(drawn[key], (92, 92)), mask[crop]), key


@pytest.mark.parametrize(
    ("spacing", "size", "scale"),
    [
        (None, (240, 480), (12, 12)),
        ((1.0, 2.0), (480, 480), (24, 12)),
        ((1.0, 8.0), (480, 120), (24, 3)),
    ],
)
def test_proportions_follow_the_spacing(
    spacing: tuple[float, float] | None, size: tuple[float, ...], scale: tuple[float, ...]
) -> None:
    image = np.ones((40, 20), np.uint8)
    drawing = draw_case(matched(image, image), spacing=spacing)
    assert (drawing.width, drawing.height) == size
    assert drawing.scale == scale  # along x, then y


def test_empty_images_are_drawn_without_objects() -> None:
    nothing = np.zeros((8, 4), np.int64)
    drawing = draw_case(matched(nothing, nothing))
    assert (drawing.width, drawing.height) == (240, 480)
    assert drawing.layers == ()
    assert (drawing.box, drawing.mistake, drawing.slice_text) == (None, "", "")


def test_memory_order_and_dtype_do_not_matter() -> None:
    reference, prediction = quarters()
    expected = draw_case(matched(reference, prediction))
    other = np.asfortranarray(reference.astype(np.uint64)), prediction[::-1, ::-1][::-1, ::-1]
    assert draw_case(matched(*other)) == expected


def test_a_line_of_voxels_cannot_be_drawn() -> None:
    with pytest.raises(OptionError, match="reference has 1 axes, but a picture needs two or more"):
        draw_case(matched([1, 2], [1, 2]))


def test_slices_full_of_tiny_objects_are_thinned_out_to_a_small_file() -> None:
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 3, (900, 700)), rng.integers(0, 3, (900, 700))
    found = matched(*noise)
    full, small = draw_case(found), draw_case(found, detail=0.25)
    assert small.n_bytes < full.n_bytes / 2 < 4 * MOST_EDGES / 2
    for drawing in (full, small):
        assert (drawing.width, drawing.height) == pytest.approx((373.33, 480), abs=0.01)
        step = round(drawing.scale[0] * 900 / 480)
        assert step > 1
        rows = np.minimum(np.arange(0, 900, step) + step // 2, 899)
        columns = np.minimum(np.arange(0, 700, step) + step // 2, 699)
        kept = noise[0][np.ix_(rows, columns)]
        drawn = [path for (side, _), path in paths(drawing).items() if side == "reference"]
        assert np.array_equal(filled("".join(drawn), kept.shape), kept > 0)


def test_statuses_are_those_of_the_matching() -> None:
    reference, prediction = np.array([1, 1, 0, 2, 2, 0]), np.array([1, 1, 0, 0, 0, 4])
    statuses = statuses_of(pm.match(pm.count_overlaps(reference, prediction)))
    assert statuses == ({1: "matched", 2: "missed"}, {1: "matched", 4: "false positive"})
    void = np.array([0, 0, 0, 0, 0, 1])
    dismissed = statuses_of(pm.match(pm.count_overlaps(reference, prediction, void=void)))
    assert dismissed == ({1: "matched", 2: "missed"}, {1: "matched"})


# The largest mistake, and its box

BLOCKS = {
    "missed": ("aaaaaa.bb", "aaaaaa...", "missed reference 2"),
    "spurious": ("aaaaaa...", "aaaaaa.bb", "spurious prediction 2"),
    "larger": ("aa.bbb.cccc", "a..bbb.....", "missed reference 3"),
    "split": ("aaaaaaaa.bb", "aaaaabbb...", "reference 1, split into predictions 1 and 2"),
    "merged": ("aaaaabbb.cc", "aaaaaaaa...", "references 1 and 2, merged into prediction 1"),
    "outline": ("aaaa.bbbb", "aaa..bbbb", "reference 1, IoU 0.750"),
    "perfect": ("aaaa.bbbb", "aaaa.bbbb", ""),
}


def letters(text: str) -> LabelArray:
    return np.array([[".abcdefgh".index(letter) for letter in text]])


@pytest.mark.parametrize("name", list(BLOCKS))
def test_the_largest_mistake_is_told_with_its_ids(name: str) -> None:
    reference, prediction, told = BLOCKS[name]
    assert draw_case(matched(letters(reference), letters(prediction))).mistake == told


def test_what_a_strategy_forgives_is_not_a_mistake() -> None:
    reference, prediction = letters("aaaaaaaa.bb"), letters("aaaaabbb.cc")
    forgiving = matched(reference, prediction, matching=["many-to-one"])
    assert largest_mistake(forgiving.matching) is None
    strict = matched(reference, prediction, matching=["one-to-one"])
    assert largest_mistake(strict.matching) == ShownMistake("split", (1,), (1, 2))


def test_many_ids_are_counted() -> None:
    assert ShownMistake("merged", tuple(range(1, 8)), (3,)).text == (
        "references 1, 2, 3, 4 and 3 more, merged into prediction 3"
    )


def test_the_box_is_around_the_objects_of_the_mistake() -> None:
    drawing = draw_case(matched(*quarters()))
    # Missed reference 2 and spurious prediction 6 have 900 voxels, and the first kind is named.
    assert drawing.mistake == "missed reference 2"
    assert drawing.box is not None
    unit = 480 / 92
    x, y, width, height = drawing.box
    assert (x, y) == pytest.approx(((60 - 4) * unit - 5, (10 - 4) * unit - 5), abs=0.06)
    assert (width, height) == pytest.approx((30 * unit + 10, 30 * unit + 10), abs=0.11)


def test_boxes_of_anisotropic_slices_are_stretched_with_them() -> None:
    reference = np.zeros((20, 40), np.int64)
    reference[2:18, 2:6] = 1
    reference[10:14, 30:36] = 2
    prediction = np.where(reference == 1, 1, 0)
    drawing = draw_case(matched(reference, prediction), spacing=(3.0, 1.0))
    assert drawing.box is not None
    x, y, width, height = drawing.box
    left, top = 30 * drawing.scale[0], 10 * drawing.scale[1]
    assert drawing.scale[1] == pytest.approx(3 * drawing.scale[0])
    assert (x, y) == pytest.approx((left - 5, top - 5), abs=0.06)
    assert width == pytest.approx(6 * drawing.scale[0] + 10, abs=0.11)
    assert height == pytest.approx(4 * drawing.scale[1] + 10, abs=0.11)


def test_boxes_stay_inside_of_the_picture() -> None:
    drawing = draw_case(matched([[1, 1], [1, 1]], [[0, 0], [0, 0]]))
    assert drawing.box == (1, 1, LONGEST_SIDE - 2, LONGEST_SIDE - 2)


def test_a_volume_shows_the_slice_with_most_of_the_mistake() -> None:
    reference = np.zeros((5, 50, 50), np.uint16)
    reference[1, 5:45, 5:45] = 1
    reference[2:4, 10:20, 10:20] = 2
    reference[3, 10:20, 20:25] = 2
    prediction = np.where(reference == 1, 9, 0)
    drawing = draw_case(matched(reference, prediction), spacing=(4.0, 1.0, 1.0))
    assert drawing.slice_text == "slice 3 of 4, axis 0"
    assert list(paths(drawing)) == [("reference", "missed")]


# Orientation

WAYS = [
    (order, signs)
    for order in permutations(range(3))
    for signs in product((1, -1), repeat=3)
]  # fmt: skip
Spacing = tuple[float, ...]


def spacing_for(cut: int) -> Spacing:
    """Return distances along left to right, posterior to anterior and inferior to superior."""
    return tuple(3.0 if axis == cut else (1.0, 1.5, 1.25)[axis] for axis in range(3))


def patient(cut: int) -> tuple[LabelArray, LabelArray, LabelArray]:
    """Return an asymmetric scene in axes (R, A, S) with a missed plate across the axis `cut`."""
    reference, prediction = np.zeros((2, 24, 20, 16), np.int64)
    reference[4:9, 3:8, 2:7] = prediction[4:9, 3:8, 2:6] = 1
    plate: list[slice | int] = [slice(10, 22), slice(9, 18), slice(6, 15)]
    plate[cut] = 11
    reference[tuple(plate)] = 2
    arm: list[slice | int] = [slice(20, 22), slice(5, 10), slice(6, 8)]
    arm[cut] = 11
    reference[tuple(arm)] = 2
    grey = np.random.default_rng(1).integers(0, 256, reference.shape)
    return reference, prediction, grey


def stored(
    image: LabelArray, order: tuple[int, ...], signs: tuple[int, ...], spacing: Spacing
) -> tuple[LabelArray, npt.NDArray[np.float64]]:
    """Return an image in another order and direction of axes, with the affine that says so."""
    turned = np.transpose(image, order)
    affine = np.eye(4)
    affine[:3, :3] = 0
    for axis, (world, sign) in enumerate(zip(order, signs, strict=True)):
        affine[world, axis] = sign * spacing[world]
        if sign < 0:
            turned = np.flip(turned, axis)
            affine[world, 3] = (image.shape[world] - 1) * spacing[world]
    return np.ascontiguousarray(turned), affine


def drawn_from(
    cut: int, order: tuple[int, ...], signs: tuple[int, ...], spacing: Spacing
) -> Drawing:
    reference, prediction, grey = patient(cut)
    labels, affine = stored(reference, order, signs, spacing)
    steps = tuple(spacing[world] for world in order)
    image = LabelImage(labels, steps, affine, Path(), "mm")
    below = stored(grey, order, signs, spacing)[0].astype(np.uint8)
    found = matched(labels, stored(prediction, order, signs, spacing)[0])
    return draw_case(found, spacing=steps, orientation=image.orientation, grey=below)


@pytest.mark.parametrize("cut", range(3))
@pytest.mark.parametrize("cubes", [False, True])
def test_the_picture_is_the_same_whichever_way_a_volume_is_stored(cut: int, cubes: bool) -> None:
    spacing = (1.0, 1.0, 1.0) if cubes else spacing_for(cut)
    plane = ("sagittal", "coronal", "axial")[cut]
    shape = (24, 20, 16)
    expected = drawn_from(cut, (0, 1, 2), (1, 1, 1), spacing)
    assert len(WAYS) == 48
    for order, signs in WAYS:
        drawing = drawn_from(cut, order, signs, spacing)
        forwards = signs[order.index(cut)] > 0
        at = 11 if forwards else shape[cut] - 1 - 11
        assert drawing.slice_text == f"slice {at} of {shape[cut] - 1}, {plane}", (order, signs)
        for part in ("width", "height", "scale", "layers", "box", "grey", "mistake"):
            assert getattr(drawing, part) == getattr(expected, part), (order, signs, part)


@pytest.mark.parametrize(
    ("cut", "rows", "columns"),
    [
        # Rows and columns of the picture as slices of (R, A, S), from the first to the last one.
        (0, (2, -1), (1, -1)),  # sagittal: superior up, anterior on the left
        (1, (2, -1), (0, -1)),  # coronal: superior up, the patient's right on the left
        (2, (1, -1), (0, -1)),  # axial: anterior up, the patient's right on the left
    ],
)
def test_slices_are_upright_as_radiologists_expect(
    cut: int, rows: tuple[int, int], columns: tuple[int, int]
) -> None:
    reference = patient(cut)[0]
    whole = np.ones_like(reference)  # so that nothing is cropped
    whole[reference == 2] = 2
    found, spacing = matched(whole, np.where(whole == 1, 1, 0)), spacing_for(cut)
    drawing = draw_case(found, spacing=spacing, orientation="RAS")
    plane = np.take(whole, 11, axis=cut)
    left = [axis for axis in range(3) if axis != cut]
    picture = np.transpose(plane, (left.index(rows[0]), left.index(columns[0])))
    picture = picture[:: rows[1], :: columns[1]]
    drawn = paths(drawing)
    assert np.array_equal(filled(drawn["reference", "missed"], picture.shape), picture == 2)
    assert drawing.width / drawing.height == pytest.approx(
        picture.shape[1] * spacing[columns[0]] / (picture.shape[0] * spacing[rows[0]]), rel=1e-3
    )


def test_images_without_an_orientation_stay_as_they_are_stored() -> None:
    reference = np.zeros((6, 8, 9), np.int64)
    reference[2, 1:7, 2:4] = 1
    reference[2, 1:3, 2:8] = 1
    drawing = draw_case(matched(reference, 0 * reference), spacing=(3.0, 1.0, 1.0))
    assert drawing.slice_text == "slice 2 of 5, axis 0"
    shown = filled(paths(drawing)["reference", "missed"], (8, 9))
    assert np.array_equal(shown, reference[2] > 0)


def test_formats_of_other_libraries_are_turned_by_their_own_headers(tmp_path: Path) -> None:
    sitk = pytest.importorskip("SimpleITK")
    reference, prediction, _ = patient(0)
    drawn = []
    for suffix in (".nii.gz", ".nrrd", ".mha"):
        folder = tmp_path / suffix
        for side, labels in (("ref", reference), ("pred", prediction)):
            (folder / side).mkdir(parents=True)
            image = sitk.GetImageFromArray(np.transpose(labels, (1, 0, 2)).astype(np.uint8))
            image.SetDirection((0, 0, -1, 0, -1, 0, -1, 0, 0))  # to inferior, anterior and right
            image.SetSpacing((1.0, 2.5, 1.5))
            sitk.WriteImage(image, str(folder / side / f"a{suffix}"))
        layout = DatasetPaths(folder / "ref", {"m": folder / "pred"})
        run_dataset(pair(layout), Job(as_spec({}).canonical()), folder / "out", RunOptions())
        page = report_of(folder, None)
        drawn.append(
            re.findall(r'<svg class="picture".*?</svg>|class="slice-text">.*?<', page, re.S)
        )
    assert len(drawn[0]) == 2
    assert drawn[0][1] == 'class="slice-text">slice 11 of 23, coronal<'
    assert drawn[0] == drawn[1] == drawn[2]


# Images below


def smooth(shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    """Return values that differ everywhere, as a compressed image can hold them."""
    at = np.indices(shape, np.float64)
    values: npt.NDArray[np.float64] = sum(
        (axis + 1) * place / n for axis, (place, n) in enumerate(zip(at, shape, strict=True))
    )
    return values


def test_the_image_below_is_that_of_the_slice_in_the_same_crop() -> None:
    reference = np.zeros((7, 90, 80), np.int64)
    reference[5, 20:60, 30:70] = 1
    grey = (smooth(reference.shape) * 40).astype(np.uint8)
    drawing = draw_case(
        matched(reference, 0 * reference), spacing=(3.0, 1.0, 1.0), grey=grey, orientation=None
    )
    assert drawing.slice_text == "slice 5 of 6, axis 0"
    shown = decoded(drawing.grey)
    crop = grey[5, 17:63, 27:73]  # a margin of 8 % of 40
    assert shown.shape == crop.shape
    assert drawing.grey_size == (drawing.width, drawing.height)
    assert np.abs(shown.astype(int) - crop).max() <= 4
    others = [np.abs(shown.astype(int) - grey[at, 17:63, 27:73]).mean() for at in (4, 6)]
    assert min(others) > 4


def test_large_images_are_reduced_and_still_cover_the_slice() -> None:
    image = np.ones((1100, 700), np.int64)
    drawing = draw_case(matched(image, image), grey=(smooth(image.shape) * 80).astype(np.uint8))
    assert decoded(drawing.grey).shape == (367, 234)  # every block of 3 × 3
    unit = 480 / 1100
    assert drawing.grey_size == pytest.approx((234 * 3 * unit, 367 * 3 * unit), abs=0.01)


def report_of(folder: Path, images: Path | None) -> str:
    return write_report(folder / "out", images=images).read_text(encoding="utf-8")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    layout = make_folders(tmp_path, 3)
    run_dataset(pair(layout), Job(as_spec({}).canonical()), tmp_path / "out", RunOptions())
    return tmp_path


def save_image(path: Path, values: npt.NDArray[np.float64], affine: object = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    known = np.diag([0.5, 1.0, 2.0, 1.0]) if affine is None else affine
    nibabel.save(nibabel.Nifti1Image(values.astype(np.float32), known), path)


def test_images_are_found_by_the_name_of_the_case(run: Path) -> None:
    save_image(run / "images" / "case00.nii.gz", smooth((18, 20, 14)))
    save_image(run / "images" / "case01_0000.nii.gz", smooth((18, 20, 14)))
    page = report_of(run, run / "images")
    assert page.count("<image ") == 2
    notes = re.findall(r'<p class="hint image-note">(.*?)</p>', page)
    assert notes == ["No background image for 1 case shown here (case02)."]


def test_without_images_the_page_does_not_speak_of_them(run: Path) -> None:
    page = report_of(run, None)
    assert "<image " not in page
    assert 'class="hint image-note"' not in page
    assert 'id="cases">' in page


def test_images_in_another_orientation_are_turned(run: Path) -> None:
    values = smooth((18, 20, 14))
    save_image(run / "images" / "case00.nii.gz", values)
    straight = re.findall(r'<image href="([^"]+)"', report_of(run, run / "images"))
    affine = np.diag([0.5, -1.0, 2.0, 1.0])
    affine[1, 3] = 19.0
    save_image(run / "images" / "case00.nii.gz", values[:, ::-1], affine)
    assert re.findall(r'<image href="([^"]+)"', report_of(run, run / "images")) == straight


def test_images_of_another_shape_or_place_are_named_and_left_out(run: Path) -> None:
    images = run / "images"
    save_image(images / "case00.nii.gz", smooth((18, 20, 13)))
    moved = np.diag([0.5, 1.0, 2.0, 1.0])
    moved[0, 3] = 5.0
    save_image(images / "case01.nii.gz", smooth((18, 20, 14)), moved)
    (images / "case02.nii.gz").write_bytes(b"broken")
    page = report_of(run, images)
    assert "<image " not in page
    notes = re.findall(r'<p class="hint image-note">(.*?)</p>', page)
    assert sorted(notes)[:2] == [
        "No background image for case00: its image has shape (18, 20, 13), but its labels have "
        "shape (18, 20, 14).",
        "No background image for case01: its image and its labels place the same voxel up to 10 "
        "voxel steps apart.",
    ]
    assert sorted(notes)[2].startswith("No background image for case02: path=")
    assert len(notes) == 3
    assert page.count('<svg class="picture"') == 3


def test_many_classes_share_the_room_of_few(tmp_path: Path) -> None:
    for at in range(3):
        for side in ("ref", "pred"):
            labels = np.arange(1, 41).reshape(5, 8)
            labels[:, : at + 2] *= side == "ref"  # case 2 is the worst one
            (tmp_path / side).mkdir(exist_ok=True)
            np.save(tmp_path / side / f"case{at}.npy", np.kron(labels, np.ones((3, 3), int)))
    spec = as_spec({"classes": {f"c{label}": {"labels": label} for label in range(1, 41)}})
    layout = DatasetPaths(tmp_path / "ref", {"m": tmp_path / "pred"})
    run_dataset(pair(layout), Job(spec.canonical()), tmp_path / "out", RunOptions())
    page = report_of(tmp_path, None)
    assert page.count('<svg class="picture"') == 40  # 60 at most, but one of every class
    section = page.split('<section id="cases"')[1]
    third = section.split('data-class="c2"')[1].split("</figure>")[0]
    assert (
        "<strong><bdi>case1</bdi></strong>" in third
    )  # missed there and in case2: the first is taken
    fourth = section.split('data-class="c3"')[1].split("</figure>")[0]
    assert "<strong><bdi>case2</bdi></strong>" in fourth


def test_every_note_is_made_once() -> None:
    def lacking(case: str, model: str) -> CasePicture:
        return CasePicture(case, model, None, lacks_image=True)  # type: ignore[arg-type]

    names = [lacking(f"case{at}", model) for model in "ab" for at in range(7)]
    assert image_notes(names) == [
        "No background image for 7 cases shown here (case0, case1, case2, case3, case4 and 2 more)."
    ]
    assert image_notes([]) == []


def test_names_with_markup_stay_text(tmp_path: Path) -> None:
    evil = '"><img src=x onerror=alert(1)>'
    name = "<b>&'\""
    for side in ("ref", "pred"):
        (tmp_path / side).mkdir()
        np.save(tmp_path / side / f"{name}.npy", np.ones((4, 4), np.uint8))
    layout = DatasetPaths(tmp_path / "ref", {evil: tmp_path / "pred"})
    run_dataset(pair(layout), Job(as_spec({}).canonical()), tmp_path / "out", RunOptions())
    (tmp_path / "images").mkdir()
    np.save(tmp_path / "images" / "other.npy", np.ones((4, 4)))
    section = report_of(tmp_path, tmp_path / "images").split('<section id="cases"')[1]
    section = section.split("</section>")[0]
    assert "<img" not in section
    assert "<b>" not in section
    assert "No background image for 1 case shown here (&lt;b&gt;&amp;&#39;&#34;)" in section
    assert section.count('aria-label="Enlarge &lt;b&gt;&amp;&#39;&#34;, &#34;&gt;&lt;img') == 1
