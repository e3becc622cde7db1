"""The kernels compile for every generation of devices, where CUDA's compiler is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from panmatch.labels._device_kernels import full_name, source_of

NVCC = shutil.which("nvcc")
DEVICES = ["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90"]
KERNELS: dict[str, list[tuple[str, tuple[object, ...]]]] = {
    "pair_counts.cu": [
        ("count_pairs", ("int32", "uint8")),
        ("write_slots", ("uint64", "int64")),
    ],
    "nearest_labels.cu": [
        ("settle_rows", ("int32", "uint32", "uint32")),
        ("settle_rows", ("int64", "uint64", "float64")),
        ("mark_sites", ("bool",)),
        ("mark_sites", ("int64",)),
        ("look_beyond", ()),
        ("find_sites", ("uint32", "uint32")),
        ("find_sites", ("uint64", "float64")),
        ("settle_lines", ("uint32", "uint32")),
        ("settle_lines", ("uint64", "float64")),
    ],
    "objects.cu": [
        ("find_boxes", ("int16", 1)),
        ("find_boxes", ("int32", 3)),
        ("paint_pairs", ("uint8", "int64")),
    ],
    "surfaces.cu": [
        ("mark_boundaries", ("int32", "uint8", 1)),
        ("mark_boundaries", ("int32", "int32", 3)),
        ("settle_crop_rows", ("uint32", 1)),
        ("settle_crop_rows", ("float64", 3)),
        ("mark_crop_sites", (1,)),
        ("mark_crop_sites", (3,)),
        ("look_beyond_crops", (3,)),
        ("find_crop_sites", ("uint32", 3)),
        ("find_crop_sites", ("float64", 8)),
        ("settle_crop_lines", ("uint32", 3)),
        ("settle_crop_lines", ("float64", 8)),
        ("walk_first_axis", ("uint32", 1)),
        ("walk_first_axis", ("float64", 3)),
    ],
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("file", KERNELS)
def test_kernels_compile(file: str, device: str, tmp_path: Path) -> None:
    if NVCC is None:
        pytest.skip("CUDA's compiler nvcc is not installed")
    known = subprocess.run([NVCC, "--list-gpu-code"], capture_output=True, text=True, check=True)
    if device not in known.stdout.split():
        pytest.skip(f"this version of nvcc does not know {device}")
    names = [full_name(*kernel) for kernel in KERNELS[file]]
    wanted = "\n".join(f"auto* kernel_{i} = &{name};" for i, name in enumerate(names))
    source = tmp_path / "kernels.cu"
    source.write_text(f"{source_of(file)}\n{wanted}\n", encoding="utf-8")
    options = ["-std=c++17", f"-arch={device}", "-Werror", "all-warnings", "-cubin"]
    made = tmp_path / "kernels.cubin"
    subprocess.run([NVCC, *options, str(source), "-o", str(made)], check=True)
    code = made.read_bytes()
    assert all(kernel.encode() in code for kernel, _ in KERNELS[file])


def test_every_source_is_compiled() -> None:
    folder = Path(__file__).parents[2] / "src" / "panmatch" / "labels"
    assert {path.name for path in folder.glob("*.cu")} == set(KERNELS)
