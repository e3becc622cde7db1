"""The page about all metrics, written from the registry: docs/reference/metrics.md."""

from __future__ import annotations

from panmatch.scoring import Metric, all_metrics

INTRODUCTION = """\
# Metrics of objects

<!-- Written by docs/writers/metrics.py. -->

`pm.measure(matching, reference, prediction, metrics=("dice", "hd95"), spacing=(3, 1, 0.5))` gives
one value per reference and per false positive, `pm.measure_whole` the same for all objects of a
class as one mask. g is a reference, and p is the union of the predictions matched to it. ∂ is the
boundary: the voxels of an object with a face neighbour outside it; everything beyond the image is
outside. d(∂g→∂p) are the distances from each voxel of ∂g to the nearest voxel of ∂p, between voxel
centres, in the unit of `spacing`. That unit is `unit`, by default mm with a spacing and voxels
without.

Every metric also has a segmentation quality `sq_…`, its mean over matched references; those from 0
to 1 also have a panoptic quality `pq_…` = `sq_…` · RQ. Both are in `.scores`.

A value that is not defined is NaN, and `.reasons` says why. The distance of an object without a
partner is NaN, too, unless you set a `penalty`: a number, or `"diagonal"` for the length of the
image diagonal.

Every built-in metric is one file in `src/panmatch/scoring/_metrics`. You can also write your own:

```python
>>> import numpy as np
>>> import panmatch as pm
>>> size = pm.Metric(
...     name="size_ratio", title="Size ratio", formula="|p| / |g|", lowest=0.0,
...     highest=float("inf"), better="zero", dimension="", needs="overlap", missed="0",
...     false_positive="NaN", penalised=False,
...     compute=lambda objects: objects.pred_voxels / np.where(
...         objects.ref_voxels > 0, objects.ref_voxels, np.nan),
... )
>>> reference, prediction = np.array([1, 1, 1, 1]), np.array([1, 1, 1, 0])
>>> matching = pm.match(pm.count_overlaps(reference, prediction))
>>> pm.measure(matching, reference, prediction, (size,)).columns["size_ratio"]
array([0.75])

```
"""


def metrics_page() -> str:
    """Return the page as Markdown."""
    metrics = all_metrics().values()
    table = [
        "| name | what | range | better | dimension | missed | false positive | needs |",
        "|---|---|---|---|---|---|---|---|",
        *map(_line, metrics),
    ]
    sections = [f"## {m.name}\n\n{m.title}: `{m.formula}`. {m.conventions}" for m in metrics]
    return "\n".join([INTRODUCTION, *table]) + "\n\n" + "\n\n".join(sections) + "\n"


def _line(metric: Metric) -> str:
    top = "∞" if metric.highest == float("inf") else f"{metric.highest:g}"
    penalty = " or `penalty`" if metric.penalised else ""
    cells = [
        f"[`{metric.name}`](#{metric.name})",
        metric.title,
        f"{metric.lowest:g} … {top}",
        metric.better,
        metric.dimension or "–",
        metric.missed + penalty,
        metric.false_positive + penalty,
        metric.needs,
    ]
    return "| " + " | ".join(cells) + " |"
