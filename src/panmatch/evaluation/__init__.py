"""One case: from arrays and a spec to a result. Results of cases add up."""

from panmatch.evaluation.averages import (
    AverageScore,
    AveragingName,
    average_all,
    filled,
    mean_of_defined,
)
from panmatch.evaluation.case_result import CaseResult
from panmatch.evaluation.class_case import ClassCase, class_cases
from panmatch.evaluation.diagnosis import MISTAKES, Diagnosis, diagnose
from panmatch.evaluation.entry import Entry, Level
from panmatch.evaluation.evaluator import Evaluator
from panmatch.evaluation.one_case import evaluate, evaluate_case
from panmatch.evaluation.result import Result
from panmatch.evaluation.series import CaseCounts, CaseSeries
from panmatch.evaluation.setting import MEANS, Score, Setting
from panmatch.evaluation.sides import Image, Images
from panmatch.evaluation.tables import average_row, unit_text
from panmatch.evaluation.wording import count_mistakes, number, plural, table

__all__ = [
    "MEANS",
    "MISTAKES",
    "AverageScore",
    "AveragingName",
    "CaseCounts",
    "CaseResult",
    "CaseSeries",
    "ClassCase",
    "Diagnosis",
    "Entry",
    "Evaluator",
    "Image",
    "Images",
    "Level",
    "Result",
    "Score",
    "Setting",
    "average_all",
    "average_row",
    "class_cases",
    "count_mistakes",
    "diagnose",
    "evaluate",
    "evaluate_case",
    "filled",
    "mean_of_defined",
    "number",
    "plural",
    "table",
    "unit_text",
]
