"""95th percentile Hausdorff distance, the larger of the two directions."""

from __future__ import annotations

import numpy as np

from panmatch.overlap import Floats
from panmatch.scoring.comparison import Comparison
from panmatch.scoring.metrics.metric import Metric


def hd95(objects: Comparison) -> Floats:
    """Return the larger of the two directed 95th percentiles per row.

    As MONAI and Metrics Reloaded. MedPy and panoptica take one percentile of both directions
    together: that is hd95_pooled.
    """
    found = objects.surface
    return objects.scatter(
        np.maximum(found.from_ref.quantiles(0.95), found.from_pred.quantiles(0.95))
    )


METRIC = Metric(
    name="hd95",
    title="95th percentile Hausdorff distance, the larger of the two directions",
    formula="max(P95 d(∂g→∂p), P95 d(∂p→∂g))",
    lowest=0.0,
    highest=float("inf"),
    better="lower",
    unit="mm",
    needs="surface",
    missed="NaN",
    false_positive="NaN",
    penalised=True,
    compute=hd95,
)
