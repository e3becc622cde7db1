"""One case from whatever people hold: every kind of image gives the numbers of its arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nibabel
import numpy as np
import numpy.typing as npt
import pytest
import SimpleITK

import panmatch as pm
from panmatch import related
from panmatch.errors import FileError, LabelError, OptionError, ShapeError
from panmatch.formats import read_labels
from tests.formats.stand_ins import coordinates, data_array
from tests.formats.volumes import save_image, save_tiff, save_zarr

sitk: Any = SimpleITK
nib: Any = nibabel

SPACING = (0.5, 1.0, 2.0)
SPEC: dict[str, Any] = {
    "metrics": ["dice", "hd", "assd"],
    "matching": ["one-to-one", {"strategy": "many-to-one", "regions": True}],
    "thresholds": [0.0, 0.3],
}


def scene(seed: int = 0) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return two label images, axes (x, y, z), in which every axis is different."""
    reference = np.zeros((9, 11, 7), np.uint8)
    reference[1:4, 2:5, 1:3] = 1
    reference[6:8, 6:10, 3:6] = 2
    reference[5, 1:3, 6] = 3
    return reference, np.roll(reference, (1, seed, 0), (0, 1, 2))


def affine() -> Any:
    placed = np.diag([-0.5, -1.0, 2.0, 1.0])
    placed[:3, 3] = 30.0, -20.0, 12.5
    return placed


def nifti(array: npt.NDArray[Any], placed: Any = None) -> Any:
    return nib.Nifti1Image(array, affine() if placed is None else placed)


def itk(array: npt.NDArray[Any]) -> Any:
    """Return the same image for SimpleITK: left and posterior are positive there."""
    image = sitk.GetImageFromArray(np.ascontiguousarray(array.T))
    image.SetSpacing(SPACING)
    image.SetOrigin((-30.0, 20.0, 12.5))
    return image


def objects(result: pm.Result) -> Any:
    columns = ["class", "strategy", "threshold", "status", "dice", "hd", "assd", "ref_volume"]
    return result.instances_by_setting[columns].fillna(-1.0).to_dict("list")


def evaluate(reference: Any, prediction: Any, **options: Any) -> pm.Result:
    return pm.evaluate(reference=reference, prediction=prediction, **{"spec": SPEC, **options})


@pytest.fixture
def expected() -> pm.Result:
    return evaluate(*scene(), spacing=SPACING)


def test_images_of_simpleitk_are_not_flattened(expected: pm.Result) -> None:
    reference, prediction = map(itk, scene())
    found = evaluate(reference, prediction)
    assert objects(found) == objects(expected)
    assert found.cases[0].shape == (7, 11, 9)
    assert (found.cases[0].spacing, found.cases[0].unit) == (SPACING[::-1], "mm")


@pytest.mark.parametrize("kind", ["nifti", "itk", "path", "label image"])
@pytest.mark.parametrize("other", ["nifti", "itk", "path", "turned", "in micrometres"])
def test_every_pair_of_libraries_gives_the_same(
    kind: str, other: str, tmp_path: Path, expected: pm.Result
) -> None:
    def make(array: npt.NDArray[Any], how: str) -> Any:
        path = tmp_path / f"{how} {len(list(tmp_path.iterdir()))}.nii"
        if how == "itk":
            return itk(array)
        if how == "turned":
            return sitk.PermuteAxes(sitk.Flip(itk(array), (True, False, True)), (1, 2, 0))
        image = nifti(array)
        if how == "in micrometres":
            image = nifti(array, np.diag([1e3, 1e3, 1e3, 1.0]) @ affine())
            image.header["xyzt_units"] = 3
        save_image(image, path)
        return {"path": str(path), "label image": read_labels(path)}.get(how, image)

    reference, prediction = scene()
    found = evaluate(make(reference, kind), make(prediction, other))
    assert objects(found) == objects(expected)


@pytest.mark.parametrize("make", [nifti, itk])
def test_an_array_takes_the_grid_of_the_image_beside_it(make: Any, expected: pm.Result) -> None:
    reference, prediction = scene()
    arrays = (reference.T, prediction.T) if make is itk else (reference, prediction)
    assert objects(evaluate(make(reference), arrays[1])) == objects(expected)
    assert objects(evaluate(arrays[0], make(prediction))) == objects(expected)
    wrong = prediction if make is itk else prediction.T
    with pytest.raises(ShapeError, match="The axes look permuted"):
        evaluate(make(reference), wrong)


def test_parts_and_void_may_be_images_too() -> None:
    reference, prediction = scene()
    spec = {"classes": {"body": {"parts": [1, 2]}}, "matching": "one-to-one"}
    halves = np.where(np.arange(11)[:, None] < 7, 1, 2).astype(np.uint8)
    parts = [np.where(side > 0, halves, 0).astype(np.uint8) for side in (reference, prediction)]
    void = np.zeros_like(reference)
    void[7] = 1
    names = ("reference", "prediction", "reference_parts", "prediction_parts", "void")
    arrays: tuple[Any, ...] = (reference, prediction, *parts, void)
    expected = pm.evaluate(**dict(zip(names, arrays, strict=True)), spec=spec, spacing=SPACING)
    makers = (nifti, itk, itk, nifti, itk)
    images = {name: make(a) for name, make, a in zip(names, makers, arrays, strict=True)}
    found = pm.evaluate(**images, spec=spec)
    assert found.scores.equals(expected.scores)
    assert found.scores["part_pq"].notna().all()
    images["void"] = nifti(void, np.diag([1.0, 1.0, 1.0, 1.0]))
    with pytest.raises(OptionError, match=r"^void and reference differ in spacing"):
        pm.evaluate(**images, spec=spec)


def test_evaluators_take_the_same() -> None:
    evaluator = pm.Evaluator(SPEC)
    reference, prediction = scene()
    evaluator.update(reference=nifti(reference), prediction=itk(prediction))
    evaluator.update(reference=reference, prediction=prediction, spacing=SPACING)
    first, second = evaluator.compute().cases
    assert (first.case, second.case) == ("0000", "0001")
    assert first.entries[0].levels[0].tally == second.entries[0].levels[0].tally


class TestContradictions:
    """Whatever the two sides, or the arguments, say differently is an error with a remedy."""

    def test_a_prediction_that_lost_its_header(self) -> None:
        reference, prediction = scene()
        bare = sitk.GetImageFromArray(np.ascontiguousarray(prediction.T))
        with pytest.raises(OptionError) as caught:
            evaluate(itk(reference), bare)
        assert str(caught.value) == (
            "prediction and reference differ in spacing:\n"
            "  reference:  shape (7, 11, 9), spacing (2, 1, 0.5) mm, orientation SPL, "
            "origin (30, -20, 12.5)\n"
            "  prediction: shape (7, 11, 9), spacing (1, 1, 1) mm, orientation SPL, "
            "origin (0, 0, 0)\n"
            "Resample or reorient one of them. An image made from an array can take over the grid "
            "of the other, with CopyInformation (SimpleITK) or its affine (nibabel). To compare "
            "voxel by voxel as stored, pass arrays."
        )
        bare.CopyInformation(itk(reference))
        evaluate(itk(reference), bare)

    @pytest.mark.parametrize(("shift", "accepted"), [(0.0049, True), (0.0051, False)])
    def test_places_may_differ_by_a_hundredth_of_a_step(self, shift: float, accepted: bool) -> None:
        moved = affine()
        moved[0, 3] += shift
        sides = itk(scene()[0]), nifti(scene()[1], moved)
        if accepted:
            evaluate(*sides)
        else:
            with pytest.raises(OptionError, match=r"place the same voxel up to 0\.0102 voxel step"):
                evaluate(*sides)

    def test_other_shapes(self) -> None:
        with pytest.raises(ShapeError, match=r"reference has shape .* but prediction has shape"):
            evaluate(nifti(scene()[0]), nifti(scene()[1][1:]))

    def test_a_spacing_that_is_not_that_of_the_image(self) -> None:
        sides = nifti(scene()[0]), nifti(scene()[1])
        with pytest.raises(OptionError, match=r"spacing=2 contradicts reference, whose spacing is"):
            evaluate(*sides, spacing=2)
        same = evaluate(*sides, spacing=(0.5, 1.0009, 2.0))
        assert same.cases[0].spacing == SPACING
        with pytest.raises(OptionError, match="contradicts"):
            evaluate(*sides, spacing=(0.5, 1.0011, 2.0))
        in_micrometres = {**SPEC, "unit": "µm"}
        found = evaluate(*sides, spacing=(500, 1000, 2000), spec=in_micrometres)
        assert (found.cases[0].spacing, found.cases[0].unit) == ((500.0, 1000.0, 2000.0), "µm")

    def test_a_unit_that_is_not_that_of_the_image(self) -> None:
        sides = nifti(scene()[0]), nifti(scene()[1])
        with pytest.raises(
            OptionError, match=r"unit='µm' contradicts .* write `unit: µm` in the sp"
        ):
            evaluate(*sides, unit="µm")
        assert evaluate(*sides, unit="mm").cases[0].unit == "mm"
        converted = evaluate(*sides, spec={**SPEC, "unit": "µm"}).cases[0]
        assert (converted.spacing, converted.unit) == ((500.0, 1000.0, 2000.0), "µm")


class TestPaths:
    """Paths are read as on the command line."""

    def test_files_of_microscopy(self, tmp_path: Path) -> None:
        reference, prediction = scene()
        stated = {"imagej": True, "metadata": {"axes": "ZYX", "spacing": 0.5, "unit": "um"}}
        save_tiff(tmp_path / "a.tif", reference, resolution=(0.5, 1), **stated)
        save_zarr(tmp_path / "b.zarr", prediction)
        found = evaluate(tmp_path / "a.tif", tmp_path / "b.zarr")
        assert (found.cases[0].spacing, found.cases[0].unit) == (SPACING, "µm")

    @pytest.mark.parametrize(
        ("path", "spec", "error", "message"),
        [
            ("no.nii", SPEC, FileError, r"path='no\.nii' does not exist"),
            ("notes.txt", SPEC, FileError, "does not have the suffix of a label file"),
            (".", SPEC, FileError, "of many cases, use `panmatch evaluate`"),
            (
                "a.json",
                "coco",
                OptionError,
                r"reference='a\.json': related\.coco_pq",
            ),
        ],
    )
    def test_what_cannot_be_read(self, path: str, spec: Any, error: Any, message: str) -> None:
        with pytest.raises(error, match=message):
            evaluate(path, scene()[1], spec=spec)


class TestXarray:
    """Dimensions and coordinates of both sides must agree."""

    def arrays(self, **options: Any) -> tuple[Any, Any]:
        reference, prediction = scene()
        coords = coordinates(reference.shape, SPACING)
        first = data_array(reference, coords, "mm")
        return first, data_array(prediction, coords, options.pop("units", "mm"), **options)

    def test_coordinates_give_the_spacing(self, expected: pm.Result) -> None:
        assert objects(evaluate(*self.arrays())) == objects(expected)
        assert objects(evaluate(self.arrays()[0], scene()[1])) == objects(expected)

    def test_names_in_another_order(self) -> None:
        first, _ = self.arrays()
        _, second = self.arrays(dims=("z", "x", "y"))
        with pytest.raises(OptionError, match=r"prediction\.transpose\(\*reference\.dims\)"):
            evaluate(first, second)

    def test_coordinates_elsewhere(self) -> None:
        first, second = self.arrays()
        second.coords["y"].values = second.coords["y"].values + 1.0
        with pytest.raises(OptionError, match="place the same voxel up to 2 voxel steps apart"):
            evaluate(first, second)

    def test_other_units(self) -> None:
        with pytest.raises(OptionError, match="differ in spacing"):
            evaluate(*self.arrays(units="µm"))


class Tensor:
    """What is used of a tensor; one on another device must be copied before numpy sees it."""

    def __init__(self, values: Any, device: str = "cpu", layout: str = "torch.strided") -> None:
        self._values, self._device, self.layout = values, device, layout
        self.dtype = f"torch.{values.dtype}"

    def is_floating_point(self) -> bool:
        return bool(self._values.dtype.kind == "f")

    def is_complex(self) -> bool:
        return bool(self._values.dtype.kind == "c")

    def cpu(self) -> Tensor:
        return Tensor(self._values)

    def numpy(self) -> Any:
        assert self._device == "cpu"
        return self._values


Tensor.__module__ = "torch"


class TestTensors:
    """Tensors of torch, by a stand-in; tests/torch has the library itself."""

    @pytest.mark.parametrize("device", ["cpu", "cuda"])
    def test_on_any_device(self, device: str, expected: pm.Result) -> None:
        sides = [Tensor(side, device) for side in scene()]
        assert objects(evaluate(*sides, spacing=SPACING)) == objects(expected)
        assert objects(evaluate(nifti(scene()[0]), sides[1])) == objects(expected)

    def test_only_labels(self) -> None:
        with pytest.raises(LabelError, match=r"reference has dtype torch\.float64.*with argmax"):
            evaluate(Tensor(scene()[0].astype(float), "cuda"), scene()[1])
        with pytest.raises(LabelError, match=r"layout torch\.sparse_coo: pass reference\.to_dense"):
            evaluate(Tensor(scene()[0], layout="torch.sparse_coo"), scene()[1])


@pytest.mark.parametrize("make", [nifti, itk])
def test_functions_of_arrays_refuse_images_with_the_remedy(make: Any) -> None:
    reference, prediction = scene()
    image, name = make(reference), "SimpleITK" if make is itk else "nibabel"
    for call in (
        lambda: pm.count_overlaps(image, prediction),
        lambda: pm.count_region_overlaps(image, prediction),
        lambda: related.cc_metric(reference=image, prediction=prediction),
        lambda: pm.measure_whole(image, prediction),
    ):
        with pytest.raises(LabelError, match=f"^reference is a {name} image, but this function"):
            call()
    with pytest.raises(LabelError, match=r"^void is a .* image, but"):
        pm.count_overlaps(reference, prediction, void=image)
    how = {"SimpleITK": sitk.GetArrayFromImage, "nibabel": lambda i: np.asarray(i.dataobj)}[name]
    pm.count_overlaps(how(image), how(make(prediction)))


def test_lists_of_images_and_ragged_lists_are_refused() -> None:
    images = [itk(side) for side in scene()]
    with pytest.raises(LabelError, match="reference is a list of images, but this function"):
        evaluate(images, scene()[1])
    with pytest.raises(LabelError, match="reference cannot be read as an array of one shape"):
        pm.count_overlaps([[1, 2], [3]], [[1, 2], [3, 4]])
    with pytest.raises(LabelError, match="It holds dict: pass the voxels of one image"):
        pm.count_overlaps({"a": 1}, [1])  # type: ignore[arg-type]
    with pytest.raises(LabelError, match=r"reference='a\.nii' is a path, but this function takes"):
        pm.count_overlaps("a.nii", [1])
