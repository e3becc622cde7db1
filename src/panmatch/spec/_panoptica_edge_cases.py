"""Panoptica's edge cases as edge cases of a spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from panmatch.spec._edge_cases import STATES, EdgeState
from panmatch.spec._panoptica import EdgeValue, MetricName, PanopticaConfig, PanopticaEdgeCase
from panmatch.spec._panoptica_metrics import PANOPTICA_METRICS

Value = str | int
Definition = Mapping[EdgeState, EdgeValue]

VALUES: Mapping[EdgeValue, Value] = {"INF": "inf", "NAN": "nan", "ZERO": 0, "ONE": 1, "NONE": "nan"}

# Panmatch's values if a spec says nothing; values that are measured are not listed.
_SHARE: Definition = {
    "both_empty": "NAN",
    "no_reference": "ZERO",
    "no_prediction": "ZERO",
    "no_match": "ZERO",
}
_UNDEFINED: Definition = dict.fromkeys(STATES, "NAN")
_DISTANCE: Definition = {state: "NAN" for state in STATES if state != "no_match"}
_SURFACE_SHARE: Definition = {**_DISTANCE, "no_reference": "ZERO", "no_prediction": "ZERO"}
_VOLUME: Definition = {"both_empty": "NAN", "no_reference": "NAN"}
_WHOLE: Mapping[MetricName, Definition] = {
    "DSC": _SHARE,
    "IOU": _SHARE,
    "clDSC": _SHARE,
    "NSD": _SURFACE_SHARE,
    "RVD": _VOLUME,
    "RVAE": _VOLUME,
    "ASSD": _DISTANCE,
    "CEDI": _DISTANCE,
    "HD": _DISTANCE,
    "HD95": _DISTANCE,
}


def edge_cases_of(config: PanopticaConfig) -> dict[str, Value | dict[EdgeState, Value]]:
    """Return the edge cases of a configuration that differ from panmatch's definitions.

    Examples
    --------
    >>> edge_cases_of(PanopticaConfig(global_metrics=()))
    {'masd': {'no_reference': 'inf', 'no_prediction': 'inf', 'no_match': 'inf'}}
    """
    if config.per_region:  # panoptica applies them to each region, but a spec does not
        return {}
    found = {}
    for name, metric, definition in _scores(config):
        case = config.edge_cases.get(metric)
        if case is None:
            continue
        differing = {
            state: VALUES[value]
            for state, value in _by_state(case).items()
            if state not in definition or VALUES[value] != VALUES[definition[state]]
        }
        if differing:
            found[name] = _short(differing)
    return found


def _scores(config: PanopticaConfig) -> Iterator[tuple[str, MetricName, Definition]]:
    for metric in dict.fromkeys(config.instance_metrics):
        traits = PANOPTICA_METRICS[metric]
        yield traits.ours, metric, _SHARE if traits.is_share else _UNDEFINED
    for metric in dict.fromkeys(config.global_metrics):
        yield f"whole_{PANOPTICA_METRICS[metric].ours}", metric, _WHOLE[metric]


def _by_state(case: PanopticaEdgeCase) -> Definition:
    return {
        "both_empty": case.no_instances,
        "no_reference": case.empty_reference,
        "no_prediction": case.empty_prediction,
        "no_match": case.normal,
    }


def _short(values: dict[EdgeState, Value]) -> Value | dict[EdgeState, Value]:
    """Return a single value if all values are the same."""
    alike = len(values) == len(STATES) and len(set(values.values())) == 1
    return next(iter(values.values())) if alike else values
