"""Average symmetric surface distance, all distances pooled."""

from __future__ import annotations

from panmatch.overlap import Floats
from panmatch.scoring.comparison import Comparison
from panmatch.scoring.metrics.metric import Metric


def assd(objects: Comparison) -> Floats:
    """Return the mean of the distances of both directions together, per row.

    As Metrics Reloaded. MedPy and panoptica call the mean of the two directed means ASSD: that
    is masd.
    """
    there, back = objects.surface.from_ref, objects.surface.from_pred
    return objects.scatter((there.sums() + back.sums()) / (there.lengths + back.lengths))


METRIC = Metric(
    name="assd",
    title="Average symmetric surface distance, all distances pooled",
    formula="(Σ d(∂g→∂p) + Σ d(∂p→∂g)) / (|∂g| + |∂p|)",
    lowest=0.0,
    highest=float("inf"),
    better="lower",
    unit="mm",
    needs="surface",
    missed="NaN",
    false_positive="NaN",
    penalised=True,
    compute=assd,
)
