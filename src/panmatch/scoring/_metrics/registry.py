"""All metrics of this folder, by name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache

from panmatch.errors import OptionError, check_choice
from panmatch.scoring import _metrics as folder
from panmatch.scoring._metrics.metric import Metric

_NEEDS = ("overlap", "geometry", "surface", "band", "skeleton")


@cache
def all_metrics() -> dict[str, Metric]:
    """Return every metric of this folder by name, cheap ones first.

    Examples
    --------
    >>> all_metrics()["dice"].better
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
