"""What an installation without extras can do, and what it says where an extra is missing.

Run by `make test-core` in an environment of its own; it prints what is installed there.
"""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import numpy as np

import panmatch as pm
from panmatch import related
from panmatch.formats import read_labels

REFERENCE = np.array([[1, 1, 1, 1, 0, 2, 2, 2], [1, 1, 1, 1, 0, 2, 2, 2]])
PREDICTION = np.array([[5, 5, 5, 0, 0, 6, 6, 7], [5, 5, 5, 0, 0, 6, 6, 7]])


def check_numbers() -> None:
    """Count, match, sweep, measure and cut by regions."""
    overlap = pm.count_overlaps(REFERENCE, PREDICTION)
    assert pm.match(overlap, "many-to-one", 0.5).tally == pm.Tally(2, 0, 0, 1.75)
    assert pm.match(overlap, "one-to-one", 0.5).tally.pq == (0.75 + 2 / 3) / 2.5
    assert pm.curve(overlap, pm.ManyToOne(solver="optimal")).proven
    matching = pm.match(overlap, "many-to-one", 0.5)
    measured = pm.measure(matching, REFERENCE, PREDICTION, ("dice", "hd95"), spacing=(1, 2))
    assert measured.columns["hd95"].tolist() == [2.0, 0.0]
    regions = pm.count_region_overlaps(REFERENCE, PREDICTION)
    assert pm.match(regions, pm.RegionUnion(), 0.5).tally.tp == 2
    assert related.cc_metric(reference=REFERENCE, prediction=PREDICTION).mean > 0.8


def check_remedies() -> None:
    """Every missing extra is an error that prints the command that installs it."""
    matching = pm.match(pm.count_overlaps(REFERENCE, PREDICTION))
    for call, extra in (
        (lambda: pm.evaluate(reference=REFERENCE, prediction=PREDICTION), "cli"),
        (lambda: read_labels("case.nii.gz"), "files"),
        (lambda: pm.measure(matching, REFERENCE, PREDICTION, "cldice"), "skeleton"),
    ):
        remedy = ""
        try:
            call()
        except pm.PanmatchError as error:
            remedy = str(error)
        assert f"pip install 'panmatch[{extra}]'" in remedy, f"{extra}: {remedy}"


def main() -> None:
    """Check everything, and print what is installed."""
    Path("case.nii.gz").touch()
    try:
        check_numbers()
        check_remedies()
    finally:
        Path("case.nii.gz").unlink()
    names = sorted({dist.name for dist in metadata.distributions()} - {"pip", "setuptools"})
    sizes: list[int] = [
        sum(Path(str(file.locate())).stat().st_size for file in dist.files or ())
        for dist in metadata.distributions()
        if dist.name in names
    ]
    print(f"{len(names)} distributions, {sum(sizes) / 1e6:.0f} MB: {', '.join(names)}")
    print("2 passed, 0 failed")


if __name__ == "__main__":
    main()
