"""`panmatch evaluate --protocol` for programs that rank detections over a whole dataset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from panmatch.cli._console import ExitCode
from panmatch.cli._json import as_json
from panmatch.cli._layout import screen_width
from panmatch.cli._protocol import numbers_document, numbers_text, write_numbers
from panmatch.datasets import DatasetPaths, find_images
from panmatch.errors import FileError, OptionError
from panmatch.formats import read_labels, read_probabilities

if TYPE_CHECKING:
    from panmatch.cli._evaluate import Detail
    from panmatch.protocols import DetectionProtocol, ProtocolNumber


def detection_protocol(name: str | None) -> DetectionProtocol | None:
    """Return the protocol of detections with this name, if it is one.

    Examples
    --------
    >>> detection_protocol("picai").title, detection_protocol("stardist")
    ('PI-CAI', None)
    """
    if name is None:
        return None
    from panmatch.protocols import DETECTION_PROTOCOLS

    return DETECTION_PROTOCOLS.get(name)


def run_detection_protocol(
    protocol: DetectionProtocol,
    paths: DatasetPaths,
    out: Path,
    detail: Detail,
    options: Mapping[str, object],
) -> int:
    """Write protocol.csv, print the numbers, and return the exit code.

    Parameters
    ----------
    options
        Options of the command line that the program does not have; all must be empty.
    """
    for option, value in options.items():
        if value:
            raise OptionError(f"--protocol {protocol.name} has no use for {option}: drop it.")
    if not paths.predictions:
        raise OptionError("PRED is missing: name a file or folder, or models with --model.")
    numbers = [
        one for model, path in paths.predictions.items()
        for one in _numbers(protocol, model, paths.reference, path)
    ]  # fmt: skip
    write_numbers(out, numbers)
    if detail == "json":
        print(as_json(numbers_document(protocol, numbers)))
    elif detail != "quiet":
        most = {} if detail == "short" else {"most": None}
        print(numbers_text(protocol, numbers, screen_width(), **most))
        print(f"\nTable: {out / 'protocol.csv'}")
    return ExitCode.SUCCESS


def _numbers(
    protocol: DetectionProtocol, model: str, reference: Path, prediction: Path
) -> list[ProtocolNumber]:
    from panmatch.protocols import ProtocolNumber

    sides = _sides(protocol, reference, prediction)
    return [
        ProtocolNumber(model, None, name, value) for name, value in protocol.numbers(*sides).items()
    ]


def _sides(protocol: DetectionProtocol, reference: Path, prediction: Path) -> tuple[Any, Any]:
    """Return what a protocol takes: two files, or the images of two folders."""
    for path in (reference, prediction):
        if not path.exists():
            raise FileError(f"path={str(path)!r} does not exist: check its spelling.")
    if not protocol.reads_images:
        return reference, prediction
    masks, maps = _images(reference), _images(prediction)
    for name in sorted(set(masks) ^ set(maps)):
        side, other = (reference, prediction) if name in maps else (prediction, reference)
        raise FileError(
            f"{str(side)!r} has no image for case {name!r}, but {str(other)!r} has: "
            f"{protocol.title} needs a mask and a detection map of each case."
        )
    cases = sorted(masks)
    return (
        [read_labels(masks[name]).labels for name in cases],
        [read_probabilities(maps[name]).labels for name in cases],
    )


def _images(path: Path) -> dict[str, Path]:
    return find_images(path) if path.is_dir() else {"": path}
