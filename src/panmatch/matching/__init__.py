"""From the overlap graph to matchings: one file per strategy."""

from panmatch.matching._catalogue import STRATEGIES, option_names, resolve_strategy
from panmatch.matching._exact_sum import (
    LIMBS,
    carry,
    limbs_to_floats,
    limbs_to_units,
    to_limbs,
    to_units,
    units_to_float,
    units_to_limbs,
)
from panmatch.matching._many_to_one import ManyToOne
from panmatch.matching._match import (
    Matcher,
    Matching,
    OptimalityGap,
    check_overlap,
    match,
    optimality_gap,
)
from panmatch.matching._one_to_many import OneToMany
from panmatch.matching._one_to_one import OneToOne
from panmatch.matching._region_union import RegionUnion
from panmatch.matching._same_id import SameId
from panmatch.matching._solution import Budget, Certificate, Course, Solution
from panmatch.matching._steps import Changes, count_changes, count_steps
from panmatch.matching._strategy import Dash, Strategy, best_first
from panmatch.matching._tally import (
    QUALITIES,
    Quality,
    Scored,
    Tallies,
    Tally,
    Weights,
    are_false,
    part_sums,
    ratio,
    tally_edges,
    union_areas,
    union_quality,
)

__all__ = [
    "LIMBS",
    "QUALITIES",
    "STRATEGIES",
    "Budget",
    "Certificate",
    "Changes",
    "Course",
    "Dash",
    "ManyToOne",
    "Matcher",
    "Matching",
    "OneToMany",
    "OneToOne",
    "OptimalityGap",
    "Quality",
    "RegionUnion",
    "SameId",
    "Scored",
    "Solution",
    "Strategy",
    "Tallies",
    "Tally",
    "Weights",
    "are_false",
    "best_first",
    "carry",
    "check_overlap",
    "count_changes",
    "count_steps",
    "limbs_to_floats",
    "limbs_to_units",
    "match",
    "optimality_gap",
    "option_names",
    "part_sums",
    "ratio",
    "resolve_strategy",
    "tally_edges",
    "to_limbs",
    "to_units",
    "union_areas",
    "union_quality",
    "units_to_float",
    "units_to_limbs",
]
