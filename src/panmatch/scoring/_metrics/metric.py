"""A metric of one object: how to compute it, and all that a reader must know to trust it."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from panmatch.errors import OptionError, check_choice
from panmatch.labels import Unit
from panmatch.overlap import Floats
from panmatch.scoring import _metrics as folder

if TYPE_CHECKING:
    from panmatch.scoring._objects import ComparedObjects

Dimension = Literal["", "length", "volume"]
Compute = Callable[["ComparedObjects"], Floats]
Needs = Literal["overlap", "geometry", "surface", "band", "skeleton"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that says how well a reference and its matched predictions agree.

    A file in this folder that defines ``METRIC`` adds it to the registry. You can also create your
    own `Metric` and pass it to `measure` instead of a name.

    Attributes
    ----------
    name
        Name of the column.
    title
        What people call it.
    formula
        In terms of g (the reference) and p (the union of its matched predictions).
    lowest, highest
        Range of values.
    better
        ``"higher"``, ``"lower"``, or ``"zero"`` for signed errors.
    dimension
        ``"length"``, ``"volume"``, or ``""`` for a plain number; `unit` gives its unit.
    needs
        The computation it shares with others: ``"overlap"`` (no voxels at all), ``"geometry"``,
        ``"surface"``, ``"band"`` or ``"skeleton"``.
    missed, false_positive
        Value for a reference without a prediction, and for a prediction without a reference.
    penalised
        Whether a penalty can replace NaN there.
    compute
        Takes a `ComparedObjects` and returns one value per row: NaN where it is not defined. Its
        docstring says which other programs define the metric like this, and which do not.

    Examples
    --------
    >>> import panmatch as pm
    >>> hd95 = pm.all_metrics()["hd95"]
    >>> hd95.better, hd95.dimension, hd95.formula
    ('lower', 'length', 'max(P95 d(∂g→∂p), P95 d(∂p→∂g))')
    """

    name: str
    title: str
    formula: str
    lowest: float
    highest: float
    better: Literal["higher", "lower", "zero"]
    dimension: Dimension
    needs: Needs
    missed: str
    false_positive: str
    penalised: bool
    compute: Compute

    def values(self, objects: ComparedObjects) -> Floats:
        """Return one value per row, with the penalty for an object without a partner."""
        values = np.asarray(self.compute(objects), dtype=np.float64)
        if not self.penalised:
            return values
        alone = (objects.ref_voxels > 0) != (objects.pred_voxels > 0)
        penalty = objects.options.penalty
        return np.where(alone, np.nan if penalty is None else penalty, values)

    def unit(self, unit: Unit) -> str:
        """Return the unit of its values, for images whose spacing has that unit (D14).

        Examples
        --------
        >>> from panmatch.scoring import all_metrics
        >>> metrics = all_metrics()
        >>> metrics["hd"].unit("µm"), metrics["absolute_volume_difference"].unit("mm")
        ('µm', 'mm³')
        >>> metrics["dice"].unit("mm")
        ''
        """
        return {"": "", "length": unit, "volume": f"{unit}³"}[self.dimension]

    @property
    def conventions(self) -> str:
        """Which programs share the definition: the docstring of `compute` after its first line."""
        paragraphs = (inspect.getdoc(self.compute) or "").split("\n\n")[1:]
        return " ".join(" ".join(paragraphs).split())

    @property
    def is_share(self) -> bool:
        """Whether it runs from 0 (bad) to 1 (good), so that SQ · RQ makes sense."""
        return (self.lowest, self.highest, self.better) == (0.0, 1.0, "higher")


def share_metric(
    compute: Compute,
    title: str,
    formula: str,
    *,
    needs: Needs,
    missed: str = "0",
    false_positive: str = "0",
) -> Metric:
    """Return a metric that runs from 0 (bad) to 1 (good), named after its function."""
    alone, name = (missed, false_positive), compute.__name__
    return Metric(name, title, formula, 0.0, 1.0, "higher", "", needs, *alone, False, compute)


def distance_metric(
    compute: Compute, title: str, formula: str, *, needs: Needs = "surface"
) -> Metric:
    """Return a metric that is a length, where lower is better, and that needs both objects."""
    limits, name = (0.0, math.inf), compute.__name__
    return Metric(
        name, title, formula, *limits, "lower", "length", needs, "NaN", "NaN", True, compute
    )


_NEEDS = ("overlap", "geometry", "surface", "band", "skeleton")


@cache
def all_metrics() -> dict[str, Metric]:
    """Return every metric of this folder by name, cheap ones first.

    Examples
    --------
    >>> import panmatch as pm
    >>> pm.all_metrics()["dice"].better
    'higher'
    """
    modules = (
        importlib.import_module(f"{folder.__name__}.{module.name}")
        for module in pkgutil.iter_modules(folder.__path__)
    )
    found: list[Metric] = [module.METRIC for module in modules if hasattr(module, "METRIC")]
    found.sort(key=lambda metric: (_NEEDS.index(metric.needs), metric.name))
    return {metric.name: metric for metric in found}


def resolve_metrics(metrics: str | Metric | Iterable[str | Metric]) -> tuple[Metric, ...]:
    """Return metrics for names, or objects; unknown or repeated names are an error."""
    given = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    chosen = [_resolve(metric) for metric in given]
    names = [metric.name for metric in chosen]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise OptionError(f"metrics={names} names {twice[0]!r} more than once; drop the repeat.")
    return tuple(chosen)


def _resolve(metric: object) -> Metric:
    if isinstance(metric, Metric):
        return metric
    check_choice("metrics", metric, all_metrics())
    return all_metrics()[str(metric)]
