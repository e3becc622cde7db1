"""95th percentile Hausdorff distance, both directions pooled."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring.comparison import Comparison
from panmatch.scoring.metrics.metric import Metric


def hd95_pooled(objects: Comparison) -> Floats:
    """Return the 95th percentile of the distances of both directions together, per row.

    As MedPy and panoptica (there: HD95).
    """
    found = objects.surface
    return objects.scatter(found.from_ref.pooled(found.from_pred).quantiles(0.95))


METRIC = Metric(
    name="hd95_pooled",
    title="95th percentile Hausdorff distance, both directions pooled",
    formula="P95 of d(∂g→∂p) and d(∂p→∂g) together",
    lowest=0.0,
    highest=float("inf"),
    better="lower",
    unit="mm",
    needs="surface",
    missed="NaN",
    false_positive="NaN",
    penalised=True,
    compute=hd95_pooled,
)
