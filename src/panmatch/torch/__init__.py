"""Panoptic Quality in training loops, as a torchmetrics `Metric`.

Needs torch and torchmetrics: ``pip install 'panmatch[torch]'``.
"""

try:
    from panmatch.torch.metric import PanopticMatching
except ModuleNotFoundError as error:
    if error.name not in ("torch", "torchmetrics"):
        raise
    raise ImportError(
        f"panmatch.torch needs {error.name}, which is not installed: pip install 'panmatch[torch]'"
    ) from error

__all__ = ["PanopticMatching"]
