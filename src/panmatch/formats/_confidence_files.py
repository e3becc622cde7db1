"""CSV files that give every prediction a confidence."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
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
    return open_confidences(path).of(case)


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceTable:
    """The rows of a CSV file of confidences; each is read when its case is.

    Attributes
    ----------
    path
        The file.
    rows
        Number of the line, id and score as texts, by case; None if there is no column ``case``.
    score
        Name of the column with the confidences.
    """

    path: Path
    rows: dict[str | None, list[tuple[int, str, str]]]
    score: str
    has_cases: bool

    def of(self, case: str | None) -> dict[int, float]:
        """Return the confidence of every id of a case, which is None without a column ``case``."""
        if self.has_cases != (case is not None):
            remedy = "pass case=…" if case is None else "leave out case, or add the column"
            has = "has" if case is None else "does not have"
            raise FileError(f"path={str(self.path)!r} {has} a column 'case': {remedy}.")
        found: dict[int, float] = {}
        for number, segment, value in self.rows.get(case, ()):
            key, confidence = self._read(number, segment, value)
            if key in found:
                raise FileError(f"line {number} of {str(self.path)!r} names id {key} again.")
            found[key] = confidence
        return found

    def _read(self, number: int, segment: str, value: str) -> tuple[int, float]:
        try:
            return int(segment), float(value)
        except (TypeError, ValueError) as error:
            raise FileError(
                f"line {number} of {str(self.path)!r} has id {segment!r} and {self.score} "
                f"{value!r}; they must be a whole number and a number."
            ) from error


def open_confidences(path: str | os.PathLike[str]) -> ConfidenceTable:
    """Read the rows of a CSV file of confidences, of one case or of many."""
    source = Path(path)
    try:
        with source.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file)
            columns = list(rows.fieldnames or [])
            score = next((name for name in SCORE_NAMES if name in columns), None)
            if "id" not in columns or score is None:
                raise FileError(
                    f"path={str(source)!r} has the columns {columns}; it needs 'id' and 'score'."
                )
            found: dict[str | None, list[tuple[int, str, str]]] = {}
            for number, row in enumerate(rows, start=2):
                cells = number, row["id"], row[score]
                found.setdefault(row["case"] if "case" in columns else None, []).append(cells)
            return ConfidenceTable(source, found, score, "case" in columns)
    except FileNotFoundError as error:
        raise MissingFileError(f"path={str(source)!r} does not exist.") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"path={str(source)!r} cannot be read as CSV: {error}.") from error
