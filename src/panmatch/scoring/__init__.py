"""From matchings to numbers: curves here, objects in `measure`, classes in `class_scores`."""

from panmatch.scoring.curve import Curve, Curves, curve, curves

__all__ = ["Curve", "Curves", "curve", "curves"]
