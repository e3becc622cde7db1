"""One case: from arrays and a spec to a result. Results of cases add up."""

from panmatch.evaluation._averages import (
    AverageScore,
    AveragingName,
    average_all,
    filled,
    mean_of_defined,
    resampled_means,
)
from panmatch.evaluation._case_result import (
    CaseResult,
    ClassScore,
    Entry,
    Json,
    Level,
    MaskCounts,
    Status,
)
from panmatch.evaluation._class_case import CaseKeywords, ClassCase, class_cases, shape_of
from panmatch.evaluation._class_scores import known_class_scores
from panmatch.evaluation._diagnosis import MISTAKES, Diagnosis, diagnose
from panmatch.evaluation._evaluate import evaluate_case
from panmatch.evaluation._maps import MAP_LEGEND, mistake_maps
from panmatch.evaluation._notices import Notice, NoticeKind, some_names, warn_of
from panmatch.evaluation._result import Result
from panmatch.evaluation._series import CaseCounts, CaseSeries, ClassSeries
from panmatch.evaluation._setting import (
    MEANS,
    PARTS,
    PLAIN,
    ClassSetting,
    Score,
    Setting,
    matcher_of,
    metric_scores,
)
from panmatch.evaluation._sides import Image, Images
from panmatch.evaluation._tables import average_row, unit_text
from panmatch.evaluation._wording import (
    LOST_TO,
    count_mistakes,
    number,
    p_text,
    plural,
    signed,
    table,
)

__all__ = [
    "LOST_TO",
    "MAP_LEGEND",
    "MEANS",
    "MISTAKES",
    "PARTS",
    "PLAIN",
    "AverageScore",
    "AveragingName",
    "CaseCounts",
    "CaseKeywords",
    "CaseResult",
    "CaseSeries",
    "ClassCase",
    "ClassScore",
    "ClassSeries",
    "ClassSetting",
    "Diagnosis",
    "Entry",
    "Image",
    "Images",
    "Json",
    "Level",
    "MaskCounts",
    "Notice",
    "NoticeKind",
    "Result",
    "Score",
    "Setting",
    "Status",
    "average_all",
    "average_row",
    "class_cases",
    "count_mistakes",
    "diagnose",
    "evaluate_case",
    "filled",
    "known_class_scores",
    "matcher_of",
    "mean_of_defined",
    "metric_scores",
    "mistake_maps",
    "number",
    "p_text",
    "plural",
    "resampled_means",
    "shape_of",
    "signed",
    "some_names",
    "table",
    "unit_text",
    "warn_of",
]
