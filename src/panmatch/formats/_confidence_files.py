"""CSV files that give every prediction a confidence."""

from __future__ import annotations

import csv
import os
from pathlib import Path

from panmatch.errors import FileError, MissingFileError

SCORE_NAMES = ("score", "confidence")


def read_confidences(path: str | os.PathLike[str], case: str | None = None) -> dict[int, float]:
    r"""Read the confidence of every predicted id from a CSV file.

    Parameters
    ----------
    path
        Has the columns ``id`` and ``score`` (or ``confidence``), and may have ``case``.
    case
        Which rows to read, if there is a column ``case``.

    Returns
    -------
    dict
        Confidence by id, for `Overlap.with_confidence`.

    Examples
    --------
    >>> import panmatch as pm
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "scores.csv"
    ...     _ = file.write_text("case,id,score\np1,4,0.9\np1,7,0.3\np2,1,0.5\n")
    ...     pm.read_confidences(file, case="p1")
    {4: 0.9, 7: 0.3}
    """
    source = Path(path)
    try:
        with source.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file)
            names = rows.fieldnames or []
            return _read(list(rows), names, source, case)
    except FileNotFoundError as error:
        raise MissingFileError(f"path={str(source)!r} does not exist.") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"path={str(source)!r} cannot be read as CSV: {error}.") from error


def _read(
    rows: list[dict[str, str]], names: object, source: Path, case: str | None
) -> dict[int, float]:
    columns = list(names) if isinstance(names, list) else []
    score = next((name for name in SCORE_NAMES if name in columns), None)
    if "id" not in columns or score is None:
        raise FileError(
            f"path={str(source)!r} has the columns {columns}; it needs 'id' and 'score'."
        )
    if ("case" in columns) != (case is not None):
        remedy = "pass case=…" if case is None else "leave out case, or add the column"
        has = "has" if case is None else "does not have"
        raise FileError(f"path={str(source)!r} {has} a column 'case': {remedy}.")
    found: dict[int, float] = {}
    for number, row in enumerate(rows, start=2):
        if case is not None and row["case"] != case:
            continue
        try:
            segment, value = int(row["id"]), float(row[score])
        except (TypeError, ValueError) as error:
            raise FileError(
                f"line {number} of {str(source)!r} has id {row['id']!r} and {score} "
                f"{row[score]!r}; they must be a whole number and a number."
            ) from error
        if segment in found:
            raise FileError(f"line {number} of {str(source)!r} names id {segment} again.")
        found[segment] = value
    return found
