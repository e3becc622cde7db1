"""Several references per case: agreement between raters, and models among raters (D18)."""

from panmatch.datasets._raters._choice import CHOOSABLE, ChoiceKey, ChoiceTable
from panmatch.datasets._raters._comparison import (
    RaterComparison,
    RaterTable,
    check_names,
    compare_raters,
)
from panmatch.datasets._raters._runs import (
    RaterPaths,
    compare_rater_folders,
    holds_raters,
    load_raters,
    run_raters,
)
from panmatch.datasets._raters._spread import (
    RaterDifference,
    Spread,
    Verdict,
    compare_with_raters,
)

__all__ = [
    "CHOOSABLE",
    "ChoiceKey",
    "ChoiceTable",
    "RaterComparison",
    "RaterDifference",
    "RaterPaths",
    "RaterTable",
    "Spread",
    "Verdict",
    "check_names",
    "compare_rater_folders",
    "compare_raters",
    "compare_with_raters",
    "holds_raters",
    "load_raters",
    "run_raters",
]
