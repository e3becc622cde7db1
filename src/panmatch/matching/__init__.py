"""From the overlap graph to matchings: one file per strategy."""

from panmatch.matching.catalogue import STRATEGIES, resolve_strategy
from panmatch.matching.certificate import Budget, Certificate
from panmatch.matching.course import Course
from panmatch.matching.many_to_one import ManyToOne
from panmatch.matching.match import Matching, check_overlap, match
from panmatch.matching.matcher import Matcher
from panmatch.matching.one_to_many import OneToMany
from panmatch.matching.one_to_one import OneToOne
from panmatch.matching.optimality import OptimalityGap, optimality_gap
from panmatch.matching.region_union import RegionUnion
from panmatch.matching.same_id import SameId
from panmatch.matching.strategy import Strategy
from panmatch.matching.tally import QUALITIES, Quality, Scored, Tallies, Tally, ratio

__all__ = [
    "QUALITIES",
    "STRATEGIES",
    "Budget",
    "Certificate",
    "Course",
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
