"""From matchings to numbers: curves here, objects in `measure`, classes in `class_scores`."""

from panmatch.scoring.curve import Curve, curve

__all__ = ["Curve", "curve"]
