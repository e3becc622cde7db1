"""`Panoptica_Statistic`: the values in a file of subjects, by group and metric."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from panmatch.compat.panoptica._result import recall_by_volume_bins
from panmatch.compat.panoptica._table import FileType, ResultFile, Values, checked_path
from panmatch.errors import OptionError
from panmatch.spec import SUBJECT, split_instance, split_threshold

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

ACROSS = "across_groups"


class FloatDistribution:
    """Values with their mean, standard deviation and range; NaN for none.

    Examples
    --------
    >>> FloatDistribution([1.0, 3.0])
    [1.0, 3.0], avg = 2.0 +- 1.0
    """

    def __init__(self, value_list: Sequence[float]) -> None:
        self._values = list(value_list)

    def _reduced(self, by: Callable[[Any], Any]) -> float:
        return float(by(self._values)) if self._values else math.nan

    def __getitem__(self, key: int) -> float:
        if not isinstance(key, int):
            raise TypeError("values are indexed by position: pass an int.")
        return self._values[key]

    @property
    def values(self) -> list[float]:
        """All of them."""
        return list(self._values)

    @property
    def avg(self) -> float:
        """Mean."""
        return self._reduced(np.average)

    @property
    def std(self) -> float:
        """Standard deviation, of the values themselves."""
        return self._reduced(np.std)

    @property
    def min(self) -> float:
        """Smallest value."""
        return self._reduced(min)

    @property
    def max(self) -> float:
        """Largest value."""
        return self._reduced(max)

    def z_score(self, value: float) -> float:
        """Return how many standard deviations a value is from the mean."""
        return 0.0 if self.std == 0 else (value - self.avg) / self.std

    def get_string_repr(self, ndigits: int = 3) -> str:
        """Return range, mean and standard deviation as text."""
        low, high, avg, std = (round(one, ndigits) for one in (self.min, self.max, self.avg,
                                                               self.std))  # fmt: skip
        return f"[{low}, {high}], avg = {avg} +- {std}"

    def __repr__(self) -> str:
        return self.get_string_repr()


class ValueSummary(FloatDistribution):
    """`FloatDistribution` under its old name."""

    def __init__(self, value_list: Sequence[float]) -> None:
        warnings.warn(
            "ValueSummary is deprecated: write FloatDistribution.", DeprecationWarning, stacklevel=2
        )
        super().__init__(value_list)


class Panoptica_Statistic:  # noqa: N801 (panoptica's name)
    """Values of all subjects by group and metric, rows of single instances among them.

    Examples
    --------
    >>> values = {"bone": {"pq": [0.5, None, 1.0]}}
    >>> found = Panoptica_Statistic(["a", "b", "c"], values)
    >>> found.get_summary("bone", "pq").avg, found.get_one_subject("c")
    (0.75, {'bone': {'pq': 1.0}})
    """

    def __init__(self, subj_names: list[str], value_dict: Values) -> None:
        if not value_dict:
            raise OptionError("value_dict is empty: pass the values of at least one group.")
        self.subjectnames, self._values = subj_names, value_dict
        self.groupnames = list(value_dict)
        self.metricnames = list(value_dict[self.groupnames[0]])
        for group, columns in value_dict.items():
            if list(columns) != self.metricnames:
                raise OptionError(
                    f"value_dict: the groups must have the same metrics, but {group!r} differs "
                    f"from the first."
                )
            for name, column in columns.items():
                if len(column) != len(subj_names):
                    raise OptionError(
                        f"value_dict: {group!r}, {name!r} has {len(column)} values for "
                        f"{len(subj_names)} subjects."
                    )

    @classmethod
    def from_file(
        cls,
        file: str | Path,
        verbose: bool = True,  # noqa: ARG003 (nothing is printed)
        file_type: FileType = "jsonl",
    ) -> Panoptica_Statistic:
        """Read a file of ours or of panoptica, TSV or JSON lines."""
        return cls(*ResultFile(checked_path(file, file_type)).read())

    def to_file(self, file: str | Path, file_type: FileType = "jsonl") -> None:
        """Write all values as TSV or JSON lines."""
        ResultFile(checked_path(file, file_type)).write(self.subjectnames, self._values)

    @property
    def master_subjects(self) -> list[str]:
        """Subjects, without rows of single instances."""
        return [name for name in self.subjectnames if split_instance(name) is None]

    @property
    def instance_subjects(self) -> list[str]:
        """Rows of single instances."""
        return [name for name in self.subjectnames if split_instance(name) is not None]

    @property
    def base_metric_names(self) -> list[str]:
        """Metrics that do not belong to a threshold."""
        return [name for name in self.metricnames if split_threshold(name)[0] is None]

    def get_thresholds_for_metric(self, metric: str) -> list[float]:
        """Return the thresholds at which there are values of a metric."""
        found = map(split_threshold, self.metricnames)
        return sorted(at for at, name in found if at is not None and name == metric)

    def get(self, group: str, metric: str, remove_nones: bool = False) -> list[Any]:
        """Return the values of all subjects; None for a missing value."""
        _check_known("group", group, self.groupnames)
        _check_known("metric", metric, self.metricnames)
        values = self._values[group][metric]
        return [one for one in values if one is not None] if remove_nones else values

    def get_dict(
        self, group: str, metric: str, remove_nones: bool, sort_ascending: bool = True
    ) -> dict[str, float | None]:
        """Return values by subject, sorted; those that are missing come last."""
        pairs = list(zip(self.subjectnames, self.get(group, metric), strict=True))
        known = [pair for pair in pairs if pair[1] is not None]
        known.sort(key=lambda pair: pair[1], reverse=not sort_ascending)
        return dict(known if remove_nones else known + [p for p in pairs if p[1] is None])

    def get_best_worst_k_entries(
        self,
        groups: Sequence[str] | str | None = None,
        metrics: Sequence[str] | str | None = None,
        k: int = 3,
    ) -> tuple[dict[tuple[str, str], Any], dict[tuple[str, str], Any]]:
        """Return the subjects with the highest and the lowest values, by group and metric."""
        best, worst = {}, {}
        for group in several(groups, self.groupnames):
            for metric in several(metrics, self.metricnames):
                ordered = list(self.get_dict(group, metric, True, sort_ascending=False).items())
                best[group, metric] = dict(ordered[:k])
                worst[group, metric] = dict(ordered[-k:])
        return best, worst

    def get_one_subject(self, subjectname: str) -> dict[str, dict[str, float | None]]:
        """Return the values of one subject by group and metric."""
        _check_known("subjectname", subjectname, self.subjectnames)
        at = self.subjectnames.index(subjectname)
        return {
            group: {name: column[at] for name, column in columns.items()}
            for group, columns in self._values.items()
        }

    def get_one_metric(self, metricname: str) -> dict[str, list[float | None]]:
        """Return the values of one metric by group."""
        return {group: self.get(group, metricname) for group in self.groupnames}

    def get_one_group(self, groupname: str) -> dict[str, list[float | None]]:
        """Return the values of one group by metric."""
        return {metric: self.get(groupname, metric) for metric in self.metricnames}

    def get_across_groups(self, metric: str) -> list[float | None]:
        """Return the values of one metric, one group after the other."""
        return [value for group in self.groupnames for value in self.get(group, metric)]

    def master_values(self, values: Sequence[float | None]) -> list[float]:
        """Return the values of subjects, without those of instances and missing ones."""
        pairs = zip(self.subjectnames, values, strict=True)
        return [v for name, v in pairs if v is not None and split_instance(name) is None]

    def get_summary(self, group: str, metric: str, master_only: bool = True) -> FloatDistribution:
        """Return mean, standard deviation and range over subjects."""
        values = self.get(group, metric)
        return FloatDistribution(
            self.master_values(values) if master_only else [v for v in values if v is not None]
        )

    def get_summary_across_groups(self) -> dict[str, FloatDistribution]:
        """Return for every metric the distribution of the means of groups."""
        return {
            metric: FloatDistribution([self.get_summary(g, metric).avg for g in self.groupnames])
            for metric in self.metricnames
        }

    def get_summary_dict(
        self, include_across_group: bool = True
    ) -> dict[str, dict[str, FloatDistribution]]:
        """Return the summaries of all groups and metrics."""
        found = {
            group: {metric: self.get_summary(group, metric) for metric in self.metricnames}
            for group in self.groupnames
        }
        return found | ({ACROSS: self.get_summary_across_groups()} if include_across_group else {})

    def print_summary(
        self,
        ndigits: int = 3,
        only_across_groups: bool = True,
        include_thresholds: bool = False,
    ) -> None:
        """Print means and standard deviations, over the means of groups or for every group."""
        summary = self.get_summary_dict(include_across_group=only_across_groups)
        print()
        for group in [ACROSS] if only_across_groups else self.groupnames:
            print(f"Group {group}:")
            for metric in self.metricnames if include_thresholds else self.base_metric_names:
                one = summary[group][metric]
                print(metric, ":", round(one.avg, ndigits), "+-", round(one.std, ndigits))
            print()

    def get_subject_wise_paired_values_to(
        self, other: Panoptica_Statistic, group: str, metric: str
    ) -> tuple[list[str], list[float | None], list[float | None]]:
        """Return the subjects, and their values in both statistics."""
        if sorted(self.subjectnames) != sorted(other.subjectnames):
            raise OptionError("other must have the same subjects.")
        there = dict(zip(other.subjectnames, other.get(group, metric), strict=True))
        names = list(self.subjectnames)
        return names, list(self.get(group, metric)), [there[name] for name in names]

    def get_subject_wise_difference_to(
        self, other: Panoptica_Statistic, group: str, metric: str
    ) -> dict[str, float | None]:
        """Return by how much values exceed those of another statistic, by subject."""
        paired = self.get_subject_wise_paired_values_to(other, group, metric)
        return {
            name: None if here is None or there is None else here - there
            for name, here, there in zip(*paired, strict=True)
        }

    def recall_by_volume(
        self,
        thresholds: Sequence[float],
        group: str | None = None,
        volume_metric: str = "instance_volume_ref",
    ) -> dict[str, float]:
        """Return the share of references that are matched, by bins of their volume."""
        volumes, matched = self._instances(group, volume_metric)
        return recall_by_volume_bins(volumes, matched, thresholds)

    def recall_by_volume_percentiles(
        self,
        percentiles: Sequence[float],
        group: str | None = None,
        volume_metric: str = "instance_volume_ref",
    ) -> dict[str, float]:
        """Return the same, with bins that end at percentiles of all volumes in the column."""
        self._instances(group, volume_metric)
        every = self.get(self._one_group(group), volume_metric, remove_nones=True)
        return self.recall_by_volume(np.percentile(every, percentiles).tolist(), group,
                                     volume_metric)  # fmt: skip

    def _instances(self, group: str | None, metric: str) -> tuple[list[float], list[bool]]:
        chosen = self._one_group(group)
        columns = self.get(chosen, metric), self.get(chosen, "is_matched")
        if not self.instance_subjects:
            raise OptionError(
                "the file has no rows for single instances: write it with an aggregator that has "
                "output_individual_instance_metrics=True."
            )
        rows = zip(self.subjectnames, *columns, strict=True)
        found = [
            (float(volume), bool(matched))
            for name, volume, matched in rows
            if split_instance(name) and volume is not None and matched is not None
        ]
        return [volume for volume, _ in found], [matched for _, matched in found]

    def _one_group(self, group: str | None) -> str:
        if group is None and len(self.groupnames) > 1:
            raise OptionError(f"group=None: choose one of {self.groupnames}.")
        return self.groupnames[0] if group is None else group

    def to_dataframe(self) -> pd.DataFrame:
        """Return a table with a row per subject and group."""
        import pandas as pd

        return pd.DataFrame(
            {SUBJECT: subject, "group": group, **columns}
            for subject in self.subjectnames
            for group, columns in self.get_one_subject(subject).items()
        )

    def get_summary_figure(self, metric: str, *args: Any, **kwargs: Any) -> go.Figure:
        """Return boxes of one metric by group; options are those of `panoptica`'s method."""
        from panmatch.compat.panoptica._figures import summary_figure

        return summary_figure(self, metric, *args, **kwargs)


def several(given: Sequence[str] | str | None, every: Sequence[str]) -> Sequence[str]:
    """Return names that were passed as a list, as one name, or not at all."""
    return every if given is None else [given] if isinstance(given, str) else given


def _check_known(argument: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise KeyError(f"{argument}={value!r} does not exist. Known: {', '.join(known)}.")
