"""From the overlap graph to matchings: one file per strategy."""

from panmatch.matching.catalogue import STRATEGIES, resolve_strategy
from panmatch.matching.course import Course
from panmatch.matching.many_to_one import ManyToOne
from panmatch.matching.match import Matching, check_overlap, match
from panmatch.matching.one_to_many import OneToMany
from panmatch.matching.one_to_one import OneToOne
from panmatch.matching.same_id import SameId
from panmatch.matching.strategy import Strategy
from panmatch.matching.tally import Tally

__all__ = [
    "STRATEGIES",
    "Course",
    "ManyToOne",
    "Matching",
    "OneToMany",
    "OneToOne",
    "SameId",
    "Strategy",
    "Tally",
    "check_overlap",
    "match",
    "resolve_strategy",
]
