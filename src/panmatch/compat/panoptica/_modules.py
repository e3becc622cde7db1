"""Modules of panoptica that scripts import from, and functions that do not affect any number."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from types import ModuleType

HERE = __name__.rpartition(".")[0]
# Every module under its name in panoptica. Each has all names, as `from … import …` needs them.
NAMES = (
    "instance_approximator",
    "instance_evaluator",
    "instance_matcher",
    "metrics",
    "metrics.metrics",
    "panoptica_aggregator",
    "panoptica_evaluator",
    "panoptica_result",
    "panoptica_statistics",
    "utils",
    "utils.citation_reminder",
    "utils.constants",
    "utils.edge_case_handling",
    "utils.input_check_and_conversion",
    "utils.label_group",
    "utils.logger",
    "utils.parallel_processing",
    "utils.processing_pair",
    "utils.segmentation_class",
    "utils.speed_toggles",
)


def register_modules(names: Mapping[str, object]) -> None:
    """Make every module importable, with these names in it."""
    for name in NAMES:
        full = f"{HERE}.{name}"
        module = ModuleType(full, f"panoptica.{name}, as far as panmatch offers it.")
        module.__dict__.update(names)
        module.__path__ = []  # modules below it are registered, too
        sys.modules[full] = module
        parent, _, own = full.rpartition(".")
        setattr(sys.modules[parent], own, module)


def disable_citation_reminder() -> None:
    """Do nothing: panmatch prints no reminder."""


def set_log_level(level: int | str) -> None:
    """Set the log level of messages about computation times and missing groups."""
    logging.getLogger(HERE).setLevel(level.upper() if isinstance(level, str) else level)


class NonDaemonicPool:
    """A pool of processes, with the methods that scripts use.

    Parameters
    ----------
    processes
        How many; by default as many as there are cores.
    """

    def __init__(self, processes: int | None = None) -> None:
        self._pool = ProcessPoolExecutor(processes)

    def starmap(
        self, function: Callable[..., object], arguments: Iterable[Sequence[object]]
    ) -> list[object]:
        """Call the function with every tuple of arguments, and return what it returns."""
        tasks = [self._pool.submit(function, *one) for one in arguments]
        return [task.result() for task in tasks]

    def __enter__(self) -> NonDaemonicPool:
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown()
