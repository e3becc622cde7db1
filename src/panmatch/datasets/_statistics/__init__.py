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
from panmatch.datasets._statistics._ranking import (
    kendall_tau,
    rank_counts,
    rank_counts_resampled,
    ranks,
)
from panmatch.datasets._statistics._resampling import Bounds, Resampling
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
    "FEW_CASES",
    "Bounds",
    "Interval",
    "IntervalMethod",
    "LeadShare",
    "PairedTest",
    "RankInterval",
    "RankSpread",
    "RankStability",
    "ResampledCuts",
    "ResampledScores",
    "Resampling",
    "Undefined",
    "bootstrap_mean",
    "holm",
    "interaction_p",
    "interval",
    "interval_ends",
    "kendall_tau",
    "lead_share",
    "paired_test",
    "rank_counts",
    "rank_counts_resampled",
    "rank_stability",
    "ranking_over_threshold",
    "ranks",
    "resample",
    "resampled_cuts",
    "signed_rank_p",
    "surface_interval",
]
