"""Panoptic Quality in training loops, as a torchmetrics `Metric`.

Needs torch and torchmetrics: ``pip install 'panmatch[torch]'``.
"""

from panmatch.errors import needs_extra

with needs_extra("torch", "Metrics of training loops"):
    from panmatch.torch._metric import PanopticMatching

__all__ = ["PanopticMatching"]
