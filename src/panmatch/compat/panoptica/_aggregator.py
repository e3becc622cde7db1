"""`Panoptica_Aggregator`: a file that one or more processes add subjects to."""

from __future__ import annotations

import atexit
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from panmatch.compat.panoptica._evaluator import Image, Panoptica_Evaluator
from panmatch.compat.panoptica._statistics import Panoptica_Statistic
from panmatch.compat.panoptica._table import (
    TIME,
    FileType,
    ResultFile,
    checked_path,
    checked_subject,
    locked,
)
from panmatch.errors import FileError, MissingFileError, OptionError


class Panoptica_Aggregator:  # noqa: N801 (panoptica's name)
    """Evaluates subjects, and appends their numbers to a file.

    A subject that is in the file, or that another process is working on, is skipped. One whose
    evaluation failed may be tried again. Parameters are panoptica's, in the same order and with the
    same defaults.
    """

    def __init__(
        self,
        panoptica_evaluator: Panoptica_Evaluator,
        output_file: Path | str,
        log_times: bool = False,
        continue_file: bool = True,
        file_type: FileType = "jsonl",
        output_individual_instance_metrics: bool = False,
        is_autc: bool = False,
        threshold_step_size: float | None = None,
    ) -> None:
        if is_autc and threshold_step_size is None:
            raise OptionError(
                "threshold_step_size=None: is_autc=True needs the distance between thresholds."
            )
        if is_autc and output_individual_instance_metrics:
            raise OptionError(
                "output_individual_instance_metrics is not supported with is_autc=True, because "
                "the values of instances depend on the threshold. Leave one of them out."
            )
        self.panoptica_evaluator = panoptica_evaluator
        self._groups = panoptica_evaluator.segmentation_class_groups_names
        self._log_times, self._instances = log_times, output_individual_instance_metrics
        self._step = threshold_step_size if is_autc else None
        self.evaluation_metrics = (
            panoptica_evaluator.get_resulting_metric_keys(output_individual_instance_metrics)
            if self._step is None
            else panoptica_evaluator.get_autc_metric_keys(self._step)
        )
        if log_times:
            self.evaluation_metrics.append(TIME)
        path = checked_path(output_file, file_type)
        if not path.parent.is_dir():
            raise MissingFileError(
                f"output_file={str(path)!r}: there is no folder {str(path.parent)!r}. Create it "
                f"first."
            )
        self._file = ResultFile(path)
        known = self._file.begin(self._groups, self.evaluation_metrics)
        handle, name = tempfile.mkstemp()
        os.close(handle)
        self._claims = Path(name)
        atexit.register(self._claims.unlink, missing_ok=True)
        if continue_file:
            self._file.check_subjects(known)
        self._write_claims(known if continue_file else [])

    def evaluate(
        self,
        prediction_arr: Image,
        reference_arr: Image,
        subject_name: str,
        voxelspacing: Sequence[float] | None = None,
        **kwargs: Any,
    ) -> None:
        """Evaluate one subject, unless it is done or in progress, and append its numbers."""
        subject = checked_subject(subject_name)
        if not self._claim(subject):
            return
        try:
            rows = self._rows(prediction_arr, reference_arr, voxelspacing, kwargs)
            with locked(self._file.path):
                self._file.append(subject, rows, self.evaluation_metrics)
        except BaseException:
            self._release(subject)
            raise

    def _rows(
        self,
        prediction: Image,
        reference: Image,
        voxelspacing: Sequence[float] | None,
        more: Mapping[str, Any],
    ) -> dict[str, dict[str, Any]]:
        """Return the numbers of every group."""
        options: dict[str, Any] = {
            "voxelspacing": voxelspacing,
            "save_group_times": self._log_times,
            "log_times": False,
            **more,
        }
        judge = self.panoptica_evaluator
        results = (
            judge.evaluate(prediction, reference, **options)
            if self._step is None
            else judge.evaluate_autc(prediction, reference, self._step, **options)
        )
        rows: dict[str, dict[str, Any]] = {}
        for group, result in results.items():
            rows[group] = result.to_dict(self._instances) if self._instances else result.to_dict()
            rows[group][TIME] = result.computation_time
        return {group: rows.get(group, {}) for group in self._groups}

    def make_statistic(self) -> Panoptica_Statistic:
        """Return the statistics of all subjects so far."""
        with locked(self._file.path):
            return Panoptica_Statistic.from_file(self._file.path)

    def _claim(self, subject: str) -> bool:
        """Return whether the subject is free, and take it."""
        with self._claimed() as claimed:
            if subject in claimed:
                return False
            self._write_claims([*claimed, subject])
        return True

    def _release(self, subject: str) -> None:
        """Let a subject that could not be evaluated be tried again."""
        with self._claimed() as claimed:
            self._write_claims([one for one in claimed if one != subject])

    @contextmanager
    def _claimed(self) -> Iterator[list[str]]:
        """Lock the list of subjects that are done or in progress."""
        if not self._claims.exists():
            raise FileError("the list of subjects in progress is gone: create a new aggregator.")
        with locked(self._claims):
            yield json.loads(self._claims.read_text(encoding="utf-8"))

    def _write_claims(self, subjects: Sequence[str]) -> None:
        self._claims.write_text(json.dumps(list(subjects)), encoding="utf-8")
