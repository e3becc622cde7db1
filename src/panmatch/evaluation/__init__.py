"""One case: from arrays and a spec to a result. Results of cases add up."""

from panmatch._html import number, plural
from panmatch.evaluation._averages import (
    AverageScore,
    AveragingName,
    average_all,
    filled,
    mean_of_defined,
    resampled_means,
)
from panmatch.evaluation._case_counts import CaseCounts
from panmatch.evaluation._case_result import (
    EMPTY,
    WORST,
    CaseResult,
    ClassScore,
    ClassStructure,
    Entry,
    Findings,
    Json,
    Level,
    MaskCounts,
    Status,
    findings_from_dict,
)
from panmatch.evaluation._class_case import CaseKeywords, ClassCase, class_cases, shape_of
from panmatch.evaluation._class_scores import known_class_scores
from panmatch.evaluation._column_meanings import (
    COLUMNS,
    TABLES,
    column_meanings,
    related_meanings,
)
from panmatch.evaluation._confidences import Confidences, passed_threshold
from panmatch.evaluation._costly_mistakes import (
    CostlyMistake,
    Totals,
    costliest,
    costly_mistakes,
    pooled_tallies,
)
from panmatch.evaluation._data_facts import IN_REGIONS, WHOLE, DataFacts, SeenObjects, find_facts
from panmatch.evaluation._detection_views import DETECTION_TABLES, DetectionTableName
from panmatch.evaluation._detections import (
    AT_THRESHOLD,
    FROC,
    OVER_CLASSES,
    OVER_THRESHOLDS,
    DetectionScore,
    DetectionSeries,
    detection_scores,
    detection_table,
    families,
    mean_setting,
)
from panmatch.evaluation._diagnosis import MISTAKES, NEAR, Diagnosis, diagnose
from panmatch.evaluation._evaluate import evaluate_case
from panmatch.evaluation._kept_overlaps import ClassOverlap
from panmatch.evaluation._maps import MAP_LEGEND, mistake_maps
from panmatch.evaluation._mask_case import MaskCase
from panmatch.evaluation._masks import evaluate_masks
from panmatch.evaluation._notices import Notice, NoticeKind, some_names, warn_of
from panmatch.evaluation._result import Result, TableName
from panmatch.evaluation._score_table import ScoreColumns, score_table
from panmatch.evaluation._series import CaseSeries, ClassSeries, Each, Structures, one_by_one
from panmatch.evaluation._setting import (
    MEANS,
    PARTS,
    PLAIN,
    Cell,
    ClassSetting,
    Row,
    Score,
    Setting,
    matcher_of,
    metric_scores,
)
from panmatch.evaluation._sides import Image, Images
from panmatch.evaluation._structure_table import structure_table
from panmatch.evaluation._table import Kind, Table, is_undefined
from panmatch.evaluation._tables import (
    average_row,
    budget_table,
    mistake_table,
    unit_text,
)
from panmatch.evaluation._wording import count_mistakes, p_text, signed, table

__all__ = [
    "AT_THRESHOLD",
    "COLUMNS",
    "DETECTION_TABLES",
    "EMPTY",
    "FROC",
    "IN_REGIONS",
    "MAP_LEGEND",
    "MEANS",
    "MISTAKES",
    "NEAR",
    "OVER_CLASSES",
    "OVER_THRESHOLDS",
    "PARTS",
    "PLAIN",
    "TABLES",
    "WHOLE",
    "WORST",
    "AverageScore",
    "AveragingName",
    "CaseCounts",
    "CaseKeywords",
    "CaseResult",
    "CaseSeries",
    "Cell",
    "ClassCase",
    "ClassOverlap",
    "ClassScore",
    "ClassSeries",
    "ClassSetting",
    "ClassStructure",
    "Confidences",
    "CostlyMistake",
    "DataFacts",
    "DetectionScore",
    "DetectionSeries",
    "DetectionTableName",
    "Diagnosis",
    "Each",
    "Entry",
    "Findings",
    "Image",
    "Images",
    "Json",
    "Kind",
    "Level",
    "MaskCase",
    "MaskCounts",
    "Notice",
    "NoticeKind",
    "Result",
    "Row",
    "Score",
    "ScoreColumns",
    "SeenObjects",
    "Setting",
    "Status",
    "Structures",
    "Table",
    "TableName",
    "Totals",
    "average_all",
    "average_row",
    "budget_table",
    "class_cases",
    "column_meanings",
    "costliest",
    "costly_mistakes",
    "count_mistakes",
    "detection_scores",
    "detection_table",
    "diagnose",
    "evaluate_case",
    "evaluate_masks",
    "families",
    "filled",
    "find_facts",
    "findings_from_dict",
    "is_undefined",
    "known_class_scores",
    "matcher_of",
    "mean_of_defined",
    "mean_setting",
    "metric_scores",
    "mistake_maps",
    "mistake_table",
    "number",
    "one_by_one",
    "p_text",
    "passed_threshold",
    "plural",
    "pooled_tallies",
    "related_meanings",
    "resampled_means",
    "score_table",
    "shape_of",
    "signed",
    "some_names",
    "structure_table",
    "table",
    "unit_text",
    "warn_of",
]
