"""One case: from arrays and a spec to a result. Results of cases add up."""

from panmatch.evaluation.case_result import CaseResult
from panmatch.evaluation.evaluator import Evaluator
from panmatch.evaluation.one_case import evaluate, evaluate_case
from panmatch.evaluation.result import Result
from panmatch.evaluation.sides import Images

__all__ = ["CaseResult", "Evaluator", "Images", "Result", "evaluate", "evaluate_case"]
