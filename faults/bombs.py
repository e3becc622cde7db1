"""Small files that want to be large, and folders without an end."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import numpy as np

from faults.fault import Fault, check
from faults.runs import command, evaluate, make_dataset, peak_memory, run_facts, write_zeros

PEAK_MIB = 700.0
HUGE = 2**42  # bytes


def unpack_bombs(folder: Path) -> str:
    """Evaluate files of a few megabytes that unpack to terabytes."""
    data, out = make_dataset(folder, 4), folder / "out"
    _npz_bomb(data / "pred" / "bomb1.npz", (HUGE,))
    write_zeros(data / "pred" / "bomb2.nii.gz", (30_000, 30_000, 30_000), 2**32)
    write_zeros(data / "pred" / "bomb3.nii.gz", (8, 8, 8), 2**32)
    for name in ("bomb1", "bomb2", "bomb3"):
        reference = data / "ref" / "case000.nii.gz"
        (data / "ref" / f"{name}.nii.gz").write_bytes(reference.read_bytes())
    left, peak = peak_memory(command(data, out))
    check(left.code == 1, f"it ended with code {left.code}: {left.err}")
    check(run_facts(out)["failed"] == 3, f"{run_facts(out)['failed']} cases failed, not three")
    scores = (out / "scores.csv").read_text(encoding="utf-8")
    check("GB when unpacked" in scores, "the reason is missing")
    check(peak < PEAK_MIB, f"it took {peak:.0f} MiB")
    return (
        f"Each fails with its reason (“takes 4398.0 GB when unpacked, but only … are free”) before "
        f"it is unpacked. All other cases are evaluated, in {peak:.0f} MiB."
    )


def _npz_bomb(path: Path, shape: tuple[int, ...]) -> None:
    """Write an archive whose directory announces more than any memory holds."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": shape}
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
        archive.writestr("labels.npy", header.getvalue() + bytes(2**22))
        info = archive.getinfo("labels.npy")
        info.file_size = HUGE


def expand_yaml(folder: Path) -> str:
    """Pass specs that expand without end."""
    data = make_dataset(folder, 2)
    laughs = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    laughs += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    texts = {
        "ten lines that expand to a billion values": "\n".join(laughs),
        "an anchor that contains itself": "classes: &a\n  x: *a\n",
        "100,000 brackets": "classes: " + "[" * 100_000,
        "a Python object": "classes: !!python/object/apply:os.system ['touch hacked']",
    }
    for kind, text in texts.items():
        spec = folder / "spec.yaml"
        spec.write_text(text, encoding="utf-8")
        arguments = [one for one in command(data, folder / "out") if one not in ("-s", "-t", "-m")]
        arguments = [one for one in arguments if one not in ("one-to-one", "0.5", "dice")]
        left, peak = peak_memory([*arguments, "--spec", str(spec)], cwd=folder)
        check(left.code == 2, f"{kind}: it ended with code {left.code}: {left.err[-500:]}")
        check("Traceback" not in left.err, f"{kind}: it ended in a traceback: {left.err[-500:]}")
        check(peak < PEAK_MIB, f"{kind}: it took {peak:.0f} MiB")
    check(not (folder / "hacked").exists(), "code in a spec was run")
    return f"One line names the spec and the reason, with exit code 2. Tried: {', '.join(texts)}."


def loop_links(folder: Path) -> str:
    """Put symbolic links that lead back into the folders, and a pipe among the images."""
    data, out = make_dataset(folder, 4), folder / "out"
    for side in ("ref", "pred"):
        (data / side / "again").symlink_to(data / side)
        (data / side / "self").symlink_to(data / side / "self")
        (data / side / "loop.nii.gz").symlink_to("loop.nii.gz")
        os.mkfifo(data / side / "pipe.nii.gz")
    left = evaluate(data, out)
    check(left.code == 1, f"it ended with code {left.code}: {left.err}")
    scores = (out / "scores.csv").read_text(encoding="utf-8")
    check("pipe or a device" in scores, "the reason for the pipe is missing")
    check("case003" in scores, "a case is missing")
    return (
        "Links back into a folder are followed at most once. A link to itself and a pipe are "
        "cases that fail with their reason. All others are evaluated."
    )


def twin_names(folder: Path) -> str:
    """Have cases whose names differ by capitals only, and their maps on one disk."""
    data, out = make_dataset(folder, 1), folder / "out"
    for side in ("ref", "pred"):
        content = (data / side / "case000.nii.gz").read_bytes()
        (data / side / "CASE000.nii.gz").write_bytes(content)
    left = evaluate(data, out, "--maps")
    check(left.code == 0, f"it ended with code {left.code}: {left.err}")
    maps = [path.name.lower() for path in (out / "maps").rglob("*.nii.gz")]
    check(len(maps) == 2 == len(set(maps)), f"their maps are {maps}")
    return "They are two cases, each with its own row. Files named after them stay distinct."


FAULTS = (
    Fault("A zip bomb as `.npz` and gzip bombs as `.nii.gz`", unpack_bombs),
    Fault("A YAML bomb as a spec", expand_yaml),
    Fault("Circular symbolic links, and a pipe among the images", loop_links),
    Fault("Cases whose names differ only in capitals", twin_names),
)
