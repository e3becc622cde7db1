"""What is known about the cases: their patients, sites, scanners, and other columns of a table."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from panmatch.datasets._score_files import original_text
from panmatch.datasets._statistics import IntervalMethod
from panmatch.errors import Argument, FileError, OptionError, check_choice
from panmatch.evaluation import CaseResult, Notice, Result, plural, some_names
from panmatch.formats import case_name

About = Mapping[str, Mapping[str, str]]

CASES = Argument("cases")
# Columns whose values usually have several scans or images.
SUBJECTS = ("patient", "subject", "participant", "person", "animal", "donor", "specimen")
# Subjects in names of cases as BIDS writes them: sub-01_ses-2.
BIDS = re.compile(r"(?:^|/)(sub-[0-9A-Za-z]+)(?=[_/])")


@dataclass(frozen=True, slots=True)
class CaseTable:
    """Columns about cases, from a file or from the names of the cases.

    Attributes
    ----------
    source
        The file or the pattern.
    columns
        Names of the columns.
    rows
        What is known about each case, by column. Unknown values are left out.
    unlisted
        Cases that the file does not list, or that the pattern does not fit.
    """

    source: str
    columns: tuple[str, ...]
    rows: About
    unlisted: tuple[str, ...] = ()

    @property
    def notices(self) -> list[Notice]:
        """Which cases the table does not know."""
        if not self.unlisted:
            return []
        verb = "is" if len(self.unlisted) == 1 else "are"
        text = (
            f"{plural(len(self.unlisted), 'case')} {verb} not in --cases {self.source!r} "
            f"({some_names(self.unlisted)}): each counts as a cluster of its own, and is in no "
            f"subgroup."
        )
        return [Notice("unlisted-cases", text, self.unlisted)]


def read_case_table(source: str | Path, cases: Iterable[str]) -> CaseTable:
    """Return what a table or a pattern says about cases.

    Parameters
    ----------
    source
        A CSV file with a column ``case`` and others, such as ``patient`` and ``site``; or a pattern
        for the names of cases, such as ``"{patient}_{visit}"``. In a pattern, ``*`` stands for
        anything.
    cases
        Names of the cases.

    Examples
    --------
    >>> table = read_case_table("{patient}-{visit}", ["p1-a", "p1-b", "p2-a", "odd"])
    >>> table.rows["p1-b"], table.unlisted
    ({'patient': 'p1', 'visit': 'b'}, ('odd',))
    """
    names = list(dict.fromkeys(cases))
    text = str(source)
    if "{" in text and not Path(text).exists():
        columns, known = _by_pattern(text, names)
    else:
        columns, listed = _by_file(Path(text))
        known = {name: row for name in names if (row := listed.get(name)) is not None}
    if not known:
        raise FileError(
            replace(CASES, value=text), f" knows none of the cases ({some_names(names)}): check "
            f"its column 'case', or the pattern.",
        )  # fmt: skip
    rows = {
        name: {key: value for key, value in row.items() if value} for name, row in known.items()
    }
    return CaseTable(text, columns, rows, tuple(name for name in names if name not in known))


def describe_cases(
    result: Result,
    table: CaseTable | str | Path | None = None,
    *,
    cluster: str | None = None,
    interval: IntervalMethod | None = None,
) -> Result:
    """Return a result whose cases have columns, clusters, and another kind of interval.

    Parameters
    ----------
    result
        The result of a run, or of an `Evaluator`.
    table
        A CSV file or a pattern, as for `read_case_table`; None to keep what is known.
    cluster
        The column of cases that belong together, such as ``"patient"``; None to keep the spec's.
    interval
        The bootstrap interval; None to keep the spec's.

    Examples
    --------
    >>> import panmatch as pm
    >>> scans = pm.Evaluator("cells")
    >>> for case in ("ann-1", "ann-2", "bob-1"):
    ...     scans.update(reference=[[1, 1, 0, 2]], prediction=[[1, 1, 0, 0]], case=case)
    >>> by_patient = describe_cases(scans.compute(), "{patient}-{visit}", cluster="patient")
    >>> [case.about["patient"] for case in by_patient.cases]
    ['ann', 'ann', 'bob']
    """
    if table is not None:
        if not isinstance(table, CaseTable):
            table = read_case_table(table, (case.case for case in result.cases))
        result = replace(result, cases=about_cases(result.cases, table.rows))
    changes = {"cluster": cluster, "interval": interval}
    given = {key: value for key, value in changes.items() if value is not None}
    averaging = result.spec.averaging.model_copy(update=given)
    found = replace(result, spec=result.spec.model_copy(update={"averaging": averaging}))
    if averaging.cluster is not None:
        check_cluster(averaging.cluster, case_columns(found.cases))
    return found


@dataclass(frozen=True, slots=True)
class CaseDescription:
    """What to change about the cases of a result: see `describe_cases`."""

    table: str | Path | None = None
    cluster: str | None = None
    interval: IntervalMethod | None = None

    def of(self, result: Result) -> Result:
        """Return the changed result."""
        return describe_cases(result, self.table, cluster=self.cluster, interval=self.interval)

    def units(self, cases: Sequence[str]) -> tuple[str, ...] | None:
        """Return the cluster of each case, or None if cases are independent."""
        if self.cluster is None:
            return None
        table = None if self.table is None else read_case_table(self.table, cases)
        check_cluster(self.cluster, () if table is None else table.columns)
        rows = {} if table is None else table.rows
        return tuple(cluster_of(case, rows.get(case, {}), self.cluster) for case in cases)


def cluster_of(case: str, about: Mapping[str, str], column: str) -> str:
    """Return the cluster of a case; without one, a name that no other case has."""
    known = about.get(column, "")
    return f"in {known}" if known else f"alone: {case}"


def about_cases(cases: Iterable[CaseResult], rows: About) -> tuple[CaseResult, ...]:
    """Return cases with what is known about them."""
    return tuple(replace(case, about=rows.get(case.case, {})) for case in cases)


def case_columns(cases: Iterable[CaseResult]) -> tuple[str, ...]:
    """Return the columns that are known for at least one case."""
    return tuple(dict.fromkeys(column for case in cases for column in case.about))


def check_cluster(cluster: str, columns: Sequence[str]) -> None:
    """Raise an `OptionError` unless there is such a column."""
    if not columns:
        raise OptionError(
            Argument("cluster", cluster),
            " names a column of the case table, but there is none: pass a CSV file or a pattern "
            "with ",
            CASES,
            ".",
        )
    check_choice(Argument("cluster"), cluster, columns)


def shared_subjects(result: Result) -> Iterator[Notice]:
    """Yield a notice if several cases share a patient, but no cluster is named."""
    if result.spec.averaging.cluster is not None:
        return
    about = {case.case: case.about for case in result.with_status("ok")}
    column, owners = _subjects(about)
    counts = Counter(owners.values())
    n_shared = sum(n for n in counts.values() if n > 1)
    if n_shared:
        where = f"--cluster {column}" if column else "--cases 'sub-{patient}_*' --cluster patient"
        text = (
            f"{n_shared} of {plural(len(about), 'case')} share their {column or 'subject'} with "
            f"another case ({plural(len(counts), column or 'subject')} in all), but are treated as "
            f"independent: intervals are too narrow and p-values too small. Pass {where}."
        )
        yield Notice("shared-subjects", text)


def _subjects(about: About) -> tuple[str, Mapping[str, str]]:
    """Return the column of subjects and the subject of each case; from BIDS names if need be."""
    for column in SUBJECTS:
        known = {case: row[column] for case, row in about.items() if column in row}
        if known:
            return column, known
    found = {case: BIDS.search(case) for case in about}
    return "", {case: match[1] for case, match in found.items() if match}


def _by_pattern(pattern: str, names: Sequence[str]) -> tuple[tuple[str, ...], About]:
    pieces = re.split(r"(\{\w+\}|\*)", pattern)
    columns = [piece[1:-1] for piece in pieces if re.fullmatch(r"\{\w+\}", piece)]
    if not columns or len(set(columns)) < len(columns) or "case" in columns:
        raise OptionError(
            replace(CASES, value=pattern),
            " is not a pattern: name each column once, such as '{patient}_{visit}'.",
        )
    groups = {"*": ".*"} | {f"{{{column}}}": f"(?P<{column}>.+?)" for column in columns}
    expression = re.compile("".join(groups.get(piece, re.escape(piece)) for piece in pieces))
    found = {name: expression.fullmatch(name) for name in names}
    return tuple(columns), {name: one.groupdict() for name, one in found.items() if one}


def _by_file(path: Path) -> tuple[tuple[str, ...], About]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(
            replace(CASES, value=str(path)), f" cannot be read as a table: {error}."
        ) from error
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    names = [name.strip() for name in rows[0]] if rows else []
    if "case" not in names or len(set(names)) < len(names):
        raise FileError(
            replace(CASES, value=str(path)),
            f" is not a case table: its first line must name the column 'case' and others, each "
            f"once. It has {', '.join(map(repr, names)) or 'none'}.",
        )
    known: dict[str, dict[str, str]] = {}
    for line, cells in enumerate(rows[1:], 2):
        row = {name: original_text(cell.strip()) for name, cell in zip(names, cells, strict=False)}
        if any(row.values()):
            case = case_name(row.pop("case", ""))
            if known.setdefault(case, row) != row:
                raise FileError(
                    replace(CASES, value=str(path)),
                    f", line {line}: case {case!r} is listed twice, with different values.",
                )
    return tuple(name for name in names if name != "case"), known
