"""From matchings to numbers."""

from panmatch.scoring.curve import Curve, curve

__all__ = ["Curve", "curve"]
