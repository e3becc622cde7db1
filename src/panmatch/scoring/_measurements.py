"""Values per object, and the scores that follow from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from panmatch.errors import OptionError, check_choice
from panmatch.matching import Tally, limbs_to_units, ratio, to_limbs, units_to_float
from panmatch.overlap import Floats, Ints
from panmatch.scoring._metrics import Metric
from panmatch.scoring._objects import MeasureOptions

Column = npt.NDArray[Any]  # text, whole numbers or floats
Columns = dict[str, Column]
Over = Literal["matched", "references", "all"]

REASONS = {
    "matched": "not defined for this object",
    "missed": "missed: no prediction to compare with",
    "false positive": "false positive: no reference to compare with",
    "empty": "empty: neither side has a voxel",
}


@dataclass(frozen=True, slots=True)
class Average:
    """A mean that says how many values it left out; averages of images add exactly (D11, D13).

    Attributes
    ----------
    units
        Sum of the values that are defined, as a whole multiple of 2**-62; `total` is the same as
        a float.
    count
        How many those are.
    skipped
        How many were not defined.

    Examples
    --------
    >>> import numpy as np
    >>> import panmatch as pm
    >>> (pm.Average.of(np.array([1.0, 2.0])) + pm.Average.of(np.array([np.nan]))).value
    1.5
    """

    units: int
    count: int
    skipped: int

    @classmethod
    def of(cls, values: Floats) -> Average:
        """Return the average of finite values, NaN skipped."""
        defined = values[~np.isnan(values)]
        units = limbs_to_units(to_limbs(defined).sum(axis=0))
        return cls(units, len(defined), len(values) - len(defined))

    @property
    def total(self) -> float:
        """Sum of the values that are defined."""
        return units_to_float(self.units)

    @property
    def value(self) -> float:
        """The mean; NaN if there is no value."""
        return ratio(self.total, self.count)

    def __add__(self, other: Average) -> Average:
        if not isinstance(other, Average):
            return NotImplemented
        return Average(
            self.units + other.units, self.count + other.count, self.skipped + other.skipped
        )

    def __radd__(self, other: object) -> Average:
        return self if other == 0 else NotImplemented  # sum() starts with 0


class ObjectTable:
    """Everything measured in a pair of images; rows keep their numbers as the table grows.

    Examples
    --------
    >>> table = ObjectTable({"ref_id": np.array([1, 2])})
    >>> table.append({"ref_id": np.array([3])})
    >>> table.columns
    {'ref_id': array([1, 2, 3])}
    """

    def __init__(self, *blocks: Columns) -> None:
        self._blocks = list(blocks)

    def append(self, block: Columns) -> None:
        """Add rows."""
        self._blocks.append(block)

    @property
    def columns(self) -> Columns:
        """All rows."""
        if len(self._blocks) > 1:
            names = self._blocks[0]
            self._blocks = [
                {name: np.concatenate([block[name] for block in self._blocks]) for name in names}
            ]
        return self._blocks[0] if self._blocks else {}


@dataclass(frozen=True, slots=True, eq=False)
class TableRows(Mapping[str, Column]):
    """Some rows of a table, which strategies and thresholds share; read like a dictionary."""

    table: ObjectTable
    rows: Ints

    def __getitem__(self, name: str) -> Column:
        return self.table.columns[name][self.rows]

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.columns)

    def __len__(self) -> int:
        return len(self.table.columns)

    @classmethod
    def all_of(cls, columns: Columns) -> TableRows:
        """Return all rows of columns as a table."""
        return cls(ObjectTable(columns), np.arange(len(columns["status"])))


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """One row per reference, by rising id, then one per false positive.

    Measurements of several images add: their rows are concatenated, and every score is computed
    from exact sums, so it does not depend on the order (D13).

    Attributes
    ----------
    columns
        Arrays by name, all of one length. Besides the metrics: ``status`` (``"matched"``,
        ``"missed"`` or ``"false positive"``), ``ref_id`` (0 for a false positive), ``pred_ids``
        (text, separated by spaces), and for either side ``ref_voxels``, ``ref_volume``,
        ``ref_centroid`` (index × spacing, shape (rows, axes)), ``ref_start`` and ``ref_stop``
        (the bounding box in voxels), and the same with ``pred_``.
    metrics
        What was measured.
    tally
        Of the matching.
    options
        Spacing, unit, tolerance, width and penalty that were used; None for a sum if they differ.

    Examples
    --------
    >>> import numpy as np
    >>> import panmatch as pm
    >>> reference, prediction = np.array([1, 1, 1, 0, 2, 0]), np.array([4, 4, 0, 0, 0, 5])
    >>> matching = pm.match(pm.count_overlaps(reference, prediction))
    >>> found = pm.measure(matching, reference, prediction, ("dice",))
    >>> found.columns["status"].tolist(), found.columns["dice"].tolist()
    (['matched', 'missed', 'false positive'], [0.8, 0.0, 0.0])
    >>> len(found + found), found.score("sq_dice"), found.score("pq_dice")
    (6, 0.8, 0.4)
    """

    columns: TableRows
    metrics: tuple[Metric, ...]
    tally: Tally
    options: MeasureOptions | None

    def __len__(self) -> int:
        return len(self.columns.rows)

    def __add__(self, other: Measurements) -> Measurements:
        if not isinstance(other, Measurements):
            return NotImplemented
        if self.metrics != other.metrics:
            raise OptionError("measurements can only be added if they have the same metrics.")
        columns = {
            name: np.concatenate([column, other.columns[name]])
            for name, column in self.columns.items()
        }
        options = self.options if self.options == other.options else None
        rows, tally = TableRows.all_of(columns), self.tally + other.tally
        return Measurements(rows, self.metrics, tally, options)

    def __radd__(self, other: object) -> Measurements:
        return self if other == 0 else NotImplemented  # sum() starts with 0

    def __repr__(self) -> str:
        names = ", ".join(metric.name for metric in self.metrics)
        return f"Measurements({len(self)} objects: {names})"

    def reasons(self, name: str) -> npt.NDArray[np.str_]:
        """Return for every row why its value is NaN; the empty string if it is not (D11)."""
        undefined = np.isnan(self._values(name))
        texts = [
            REASONS[status] if nan else ""
            for status, nan in zip(self.columns["status"], undefined, strict=True)
        ]
        return np.array(texts, dtype=np.str_)

    def average(self, name: str, over: Over = "matched") -> Average:
        """Return the mean of a metric over some of the rows, skipping NaN values.

        Parameters
        ----------
        name
            A metric that was measured.
        over
            ``"matched"`` objects, all ``"references"``, or ``"all"`` rows, false positives
            included.
        """
        check_choice("over", over, get_args(Over))
        status = self.columns["status"]
        among = {
            "matched": status == "matched",
            "references": status != "false positive",
            "all": np.ones(len(self), np.bool_),
        }[over]
        return Average.of(self._values(name)[among])

    def tally_of(self, name: str) -> Tally:
        """Return the tally with a metric instead of IoU as quality; tallies of images add.

        Only for metrics that run from 0 to 1, where higher is better.
        """
        metric = self._metric(name)
        if not metric.is_share:
            raise OptionError(
                f"name={name!r} is not a quality from 0 to 1, so it has no tally and no PQ: use "
                f"average({name!r}), or the score 'sq_{name}'."
            )
        units = self.average(name).units
        return Tally.from_units(self.tally.tp, self.tally.fp, self.tally.fn, units)

    @property
    def scores(self) -> dict[str, float]:
        """Return ``sq_`` of every metric, and ``pq_`` of those that run from 0 to 1.

        SQ is the mean over matched references, and PQ = SQ · RQ. Without any match the SQ of a
        metric from 0 to 1 is 0 (D7), and that of any other is NaN.
        """
        scores = {"rq": self.tally.rq}
        for metric in self.metrics:
            if metric.is_share:
                tally = self.tally_of(metric.name)
                scores |= {f"sq_{metric.name}": tally.sq, f"pq_{metric.name}": tally.pq}
            else:
                scores[f"sq_{metric.name}"] = self.average(metric.name).value
        return scores

    def score(self, name: str) -> float:
        """Return one of `scores` by name, such as ``"pq_dice"`` or ``"sq_hd95"``."""
        metric = next((m for m in self.metrics if name == f"pq_{m.name}"), None)
        if metric is not None and not metric.is_share:
            raise OptionError(
                f"name={name!r} is not defined: {metric.name} is not a quality from 0 to 1, so it "
                f"cannot be multiplied by RQ. Use 'sq_{metric.name}' and 'rq' separately."
            )
        check_choice("name", name, self.scores)
        return self.scores[name]

    def _metric(self, name: str) -> Metric:
        check_choice("name", name, [metric.name for metric in self.metrics])
        return next(metric for metric in self.metrics if metric.name == name)

    def _values(self, name: str) -> Floats:
        values: Floats = self.columns[self._metric(name).name]
        return values
