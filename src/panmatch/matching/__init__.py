"""From the overlap graph to matchings: one file per strategy."""

from panmatch.matching._catalogue import STRATEGIES, resolve_strategy
from panmatch.matching._certificate import Budget, Certificate
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
from panmatch.matching._strategy import Course, Dash, Strategy
from panmatch.matching._tally import QUALITIES, Quality, Scored, Tallies, Tally, ratio

__all__ = [
    "QUALITIES",
    "STRATEGIES",
    "Budget",
    "Certificate",
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
    "Strategy",
    "Tallies",
    "Tally",
    "check_overlap",
    "match",
    "optimality_gap",
    "ratio",
    "resolve_strategy",
]
