"""From the overlap graph to matchings: one file per strategy."""

from panmatch.matching.catalogue import STRATEGIES, resolve_strategy
from panmatch.matching.certificate import Budget, Certificate
from panmatch.matching.course import Course
from panmatch.matching.many_to_one import ManyToOne
from panmatch.matching.match import Matching, check_overlap, match
from panmatch.matching.one_to_many import OneToMany
from panmatch.matching.one_to_one import OneToOne
from panmatch.matching.optimality import OptimalityGap, optimality_gap
from panmatch.matching.region_union import RegionUnion
from panmatch.matching.same_id import SameId
from panmatch.matching.strategy import Strategy
from panmatch.matching.tally import Tally

__all__ = [
    "STRATEGIES",
    "Budget",
    "Certificate",
    "Course",
    "ManyToOne",
    "Matching",
    "OneToMany",
    "OneToOne",
    "OptimalityGap",
    "RegionUnion",
    "SameId",
    "Strategy",
    "Tally",
    "check_overlap",
    "match",
    "optimality_gap",
    "resolve_strategy",
]
