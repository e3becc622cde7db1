"""The value of a metric if nothing matches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from yaml import Node

from panmatch.compat.panoptica._config import SavedPart, edge_case_node, handler_node
from panmatch.compat.panoptica._enums import EdgeCaseResult, EdgeCaseZeroTP
from panmatch.compat.panoptica._metrics import Metric
from panmatch.errors import OptionError
from panmatch.spec import (
    PanopticaConfig,
    PanopticaEdgeCase,
    PanopticaEdgeValue,
    PanopticaMetric,
)


class MetricZeroTPEdgeCaseHandling(SavedPart):
    """Values of one metric, by which side has objects; the default where one is not given.

    Examples
    --------
    >>> worst = MetricZeroTPEdgeCaseHandling(EdgeCaseResult.ZERO, EdgeCaseResult.NAN)
    >>> worst(tp=0, n_pred_instances=3, n_ref_instances=0)
    (True, 0.0)
    """

    def __init__(
        self,
        default_result: EdgeCaseResult | None = None,
        no_instances_result: EdgeCaseResult | None = None,
        empty_prediction_result: EdgeCaseResult | None = None,
        empty_reference_result: EdgeCaseResult | None = None,
        normal: EdgeCaseResult | None = None,
    ) -> None:
        given = (no_instances_result, empty_prediction_result, empty_reference_result, normal)
        chosen = [default_result if one is None else one for one in given]
        known = [one for one in chosen if one is not None]
        if len(known) < len(given):
            raise OptionError(
                "default_result=None leaves some cases without a value: pass it, or all of "
                "no_instances_result, empty_prediction_result, empty_reference_result and normal."
            )
        self._edgecase_dict = dict(zip(_ORDER, known, strict=True))

    def __call__(
        self, tp: int, n_pred_instances: int, n_ref_instances: int
    ) -> tuple[bool, float | None]:
        """Return whether nothing matched, and the value for that case."""
        if tp:
            return False, None
        if not n_ref_instances:
            case = EdgeCaseZeroTP.EMPTY_REF if n_pred_instances else EdgeCaseZeroTP.NO_INSTANCES
        else:
            case = EdgeCaseZeroTP.NORMAL if n_pred_instances else EdgeCaseZeroTP.EMPTY_PRED
        return True, self._edgecase_dict[case].value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self._edgecase_dict == other._edgecase_dict

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "".join(f"{case}: {value}\n" for case, value in self._edgecase_dict.items())

    @property
    def plain(self) -> PanopticaEdgeCase:
        """The values by name."""
        names = [cast(PanopticaEdgeValue, self._edgecase_dict[case].name) for case in _ORDER]
        return PanopticaEdgeCase(*names)

    @classmethod
    def of(cls, case: PanopticaEdgeCase) -> MetricZeroTPEdgeCaseHandling:
        """Return the object for values by name."""
        names = (case.no_instances, case.empty_prediction, case.empty_reference, case.normal)
        return cls(None, *(EdgeCaseResult[name] for name in names))

    def _as_node(self) -> Node:
        return edge_case_node(self.plain)

    @classmethod
    def _from_config(cls, config: PanopticaConfig) -> MetricZeroTPEdgeCaseHandling:
        return cls.of(next(iter(config.edge_cases.values())))


_ORDER = (
    EdgeCaseZeroTP.NO_INSTANCES,
    EdgeCaseZeroTP.EMPTY_PRED,
    EdgeCaseZeroTP.EMPTY_REF,
    EdgeCaseZeroTP.NORMAL,
)


class EdgeCaseHandler(SavedPart):
    """Values of all metrics where nothing matches, with panoptica's defaults.

    Examples
    --------
    >>> EdgeCaseHandler().handle_zero_tp(Metric.ASSD, 0, 2, 2)
    (True, inf)
    """

    def __init__(
        self,
        listmetric_zeroTP_handling: Mapping[Metric, MetricZeroTPEdgeCaseHandling] | None = None,  # noqa: N803
        empty_list_std: EdgeCaseResult = EdgeCaseResult.NAN,
    ) -> None:
        given = listmetric_zeroTP_handling
        self._handling = _by_metric(PanopticaConfig()) if given is None else dict(given)
        self._empty_list_std = empty_list_std

    @property
    def plain(self) -> dict[PanopticaMetric, PanopticaEdgeCase]:
        """The values by name."""
        return {metric.plain: case.plain for metric, case in self._handling.items()}

    def _as_node(self) -> Node:
        return handler_node(self.plain, self._empty_list_std.name)

    @classmethod
    def _from_config(cls, config: PanopticaConfig) -> EdgeCaseHandler:
        return cls(_by_metric(config), EdgeCaseResult[config.empty_list_std])

    def handle_zero_tp(
        self, metric: Metric, tp: int, n_pred_instances: int, n_ref_instances: int
    ) -> tuple[bool, float | None]:
        """Return whether nothing matched, and the value that the metric then has."""
        if tp:
            return False, None
        if metric not in self._handling:
            raise NotImplementedError(
                f"{metric} has no value for the case in which nothing matches: add it to "
                f"listmetric_zeroTP_handling."
            )
        return self._handling[metric](tp, n_pred_instances, n_ref_instances)

    def handle_empty_list_std(self) -> EdgeCaseResult:
        """Return the standard deviation of no values."""
        return self._empty_list_std

    def get_metric_zero_tp_handle(self, metric: Metric) -> MetricZeroTPEdgeCaseHandling:
        """Return the values of one metric."""
        return self._handling[metric]

    @property
    def listmetric_zeroTP_handling(self) -> dict[Metric, MetricZeroTPEdgeCaseHandling]:  # noqa: N802
        """The values of all metrics."""
        return self._handling

    def __str__(self) -> str:
        lines = [f"EdgeCaseHandler:\n - Standard Deviation of Empty = {self._empty_list_std}"]
        lines += [f"- {metric}: {case}" for metric, case in self._handling.items()]
        return "\n".join(lines)


def _by_metric(config: PanopticaConfig) -> dict[Metric, MetricZeroTPEdgeCaseHandling]:
    cases = config.edge_cases.items()
    return {Metric[name]: MetricZeroTPEdgeCaseHandling.of(case) for name, case in cases}
