"""How certain scores, differences and rankings are."""

from panmatch.datasets._statistics._bootstrap import (
    FEW_CASES,
    FEWEST_CASES,
    Interval,
    Undefined,
    bootstrap_mean,
    interval,
    resample,
)
from panmatch.datasets._statistics._detections import ResampledCuts, resampled_cuts
from panmatch.datasets._statistics._interaction import interaction_p
from panmatch.datasets._statistics._intervals import (
    IntervalMethod,
    ResampledScores,
    interval_ends,
)
from panmatch.datasets._statistics._paired import PairedTest, holm, paired_test, signed_rank_p
from panmatch.datasets._statistics._power import SampleSize, sample_size
from panmatch.datasets._statistics._rank_rules import (
    Aggregate,
    RankedScore,
    RankMethod,
    RankRule,
    SignificanceMap,
    combined,
    final_ranks,
    places_by,
    rank_points,
    resampled_points,
    significance_map,
)
from panmatch.datasets._statistics._ranking import (
    kendall_tau,
    rank_counts,
    rank_counts_resampled,
    ranks,
)
from panmatch.datasets._statistics._resampling import Bounds, Resampling
from panmatch.datasets._statistics._sequential import (
    FEWEST_LOOKED_AT,
    confidence_sequence,
    running_evidence,
    sequence_half_width,
)
from panmatch.datasets._statistics._stability import (
    LeadShare,
    RankInterval,
    RankSpread,
    RankStability,
    lead_share,
    rank_stability,
    ranking_over_threshold,
)
from panmatch.datasets._statistics._surfaces import surface_interval

__all__ = [
    "FEWEST_CASES",
    "FEWEST_LOOKED_AT",
    "FEW_CASES",
    "Aggregate",
    "Bounds",
    "Interval",
    "IntervalMethod",
    "LeadShare",
    "PairedTest",
    "RankInterval",
    "RankMethod",
    "RankRule",
    "RankSpread",
    "RankStability",
    "RankedScore",
    "ResampledCuts",
    "ResampledScores",
    "Resampling",
    "SampleSize",
    "SignificanceMap",
    "Undefined",
    "bootstrap_mean",
    "combined",
    "confidence_sequence",
    "final_ranks",
    "holm",
    "interaction_p",
    "interval",
    "interval_ends",
    "kendall_tau",
    "lead_share",
    "paired_test",
    "places_by",
    "rank_counts",
    "rank_counts_resampled",
    "rank_points",
    "rank_stability",
    "ranking_over_threshold",
    "ranks",
    "resample",
    "resampled_cuts",
    "resampled_points",
    "running_evidence",
    "sample_size",
    "sequence_half_width",
    "signed_rank_p",
    "significance_map",
    "surface_interval",
]
