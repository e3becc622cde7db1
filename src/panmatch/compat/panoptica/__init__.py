"""A drop-in for panoptica 2.1.7: change one import, keep the script, get the same numbers faster.

``from panoptica import …`` becomes ``from panmatch.compat.panoptica import …``. The same goes for
imports from its modules, such as ``panoptica.metrics`` and ``panoptica.utils.segmentation_class``.
The numbers are those of panoptica, except where it is wrong: `QUIRKS` lists these cases, and
``Panoptica_Evaluator(…, quirks=True)`` follows panoptica there, too.
"""

from panmatch.compat.panoptica._aggregator import Panoptica_Aggregator
from panmatch.compat.panoptica._areas import PanopticaAUTCResult
from panmatch.compat.panoptica._edge_cases import EdgeCaseHandler, MetricZeroTPEdgeCaseHandling
from panmatch.compat.panoptica._enums import (
    CCABackend,
    EdgeCaseResult,
    EdgeCaseZeroTP,
    InputType,
    MetricMode,
    MetricType,
)
from panmatch.compat.panoptica._evaluator import Panoptica_Evaluator, PanopticaSpeedToggles
from panmatch.compat.panoptica._figures import make_autc_plots, make_curve_over_setups
from panmatch.compat.panoptica._groups import (
    LabelGroup,
    LabelMergeGroup,
    LabelPartGroup,
    SegmentationClassGroups,
)
from panmatch.compat.panoptica._matchers import (
    ConnectedComponentsInstanceApproximator,
    InstanceApproximator,
    InstanceMatchingAlgorithm,
    MaxBipartiteMatching,
    MaximizeMergeMatching,
    NaiveThresholdMatching,
    OneHotConnectedComponentsInstanceApproximator,
    ThresholdBasedMatching,
)
from panmatch.compat.panoptica._metrics import (
    Evaluation_List_Metric,
    Metric,
    MetricCouldNotBeComputedException,
)
from panmatch.compat.panoptica._modules import (
    NonDaemonicPool,
    disable_citation_reminder,
    register_modules,
    set_log_level,
)
from panmatch.compat.panoptica._quirks import QUIRKS
from panmatch.compat.panoptica._result import Evaluation_Metric, PanopticaResult
from panmatch.compat.panoptica._statistics import (
    FloatDistribution,
    Panoptica_Statistic,
    ValueSummary,
)
from panmatch.compat.panoptica._steps import IntermediateStepsData

__all__ = [
    "QUIRKS",
    "CCABackend",
    "ConnectedComponentsInstanceApproximator",
    "EdgeCaseHandler",
    "EdgeCaseResult",
    "EdgeCaseZeroTP",
    "Evaluation_List_Metric",
    "Evaluation_Metric",
    "FloatDistribution",
    "InputType",
    "InstanceApproximator",
    "InstanceMatchingAlgorithm",
    "IntermediateStepsData",
    "LabelGroup",
    "LabelMergeGroup",
    "LabelPartGroup",
    "MaxBipartiteMatching",
    "MaximizeMergeMatching",
    "Metric",
    "MetricCouldNotBeComputedException",
    "MetricMode",
    "MetricType",
    "MetricZeroTPEdgeCaseHandling",
    "NaiveThresholdMatching",
    "NonDaemonicPool",
    "OneHotConnectedComponentsInstanceApproximator",
    "PanopticaAUTCResult",
    "PanopticaResult",
    "PanopticaSpeedToggles",
    "Panoptica_Aggregator",
    "Panoptica_Evaluator",
    "Panoptica_Statistic",
    "SegmentationClassGroups",
    "ThresholdBasedMatching",
    "ValueSummary",
    "disable_citation_reminder",
    "make_autc_plots",
    "make_curve_over_setups",
    "set_log_level",
]

register_modules({name: globals()[name] for name in __all__})
