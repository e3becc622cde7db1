"""Synthetic scenes with known mistakes: for the demo, the notebooks, tests and benchmarks.

A scene is a label image to use as a reference. A mistake turns it into a prediction whose true
positives, false positives and false negatives are known in advance. An anatomy is a scene with the
labels of a preset. A simulated model predicts it, with one typical mistake, and lists what it got
wrong.

Examples
--------
>>> from panmatch import phantoms
>>> reference = phantoms.balls((48, 48), 5, radius=(3, 5))
>>> prediction = phantoms.miss(phantoms.dilate(reference, 1), ids=[2])
>>> sorted(set(reference.flat) - set(prediction.flat)) == [2]
True
>>> column = phantoms.spine((64, 48), 2)
>>> phantoms.SIMULATED_MODELS["merges"].predict(column).profile
Profile(split={}, merged=((23, 24),), missed=(), spurious=())
"""

from panmatch.phantoms._anatomy import Anatomy, Prediction, Profile
from panmatch.phantoms._lesions import brain_metastases, liver_lesions
from panmatch.phantoms._mistakes import (
    add_spurious,
    dilate,
    erode,
    merge_neighbours,
    miss,
    relabel,
    shift,
    split,
)
from panmatch.phantoms._models import (
    SIMULATED_MODELS,
    AddsSpurious,
    Merges,
    MissesSmall,
    Redraws,
    SimulatedModel,
    Splits,
)
from panmatch.phantoms._raters import simulate_raters
from panmatch.phantoms._scenes import balls, blobs, cells, tissue
from panmatch.phantoms._spine import spine

__all__ = [
    "SIMULATED_MODELS",
    "AddsSpurious",
    "Anatomy",
    "Merges",
    "MissesSmall",
    "Prediction",
    "Profile",
    "Redraws",
    "SimulatedModel",
    "Splits",
    "add_spurious",
    "balls",
    "blobs",
    "brain_metastases",
    "cells",
    "dilate",
    "erode",
    "liver_lesions",
    "merge_neighbours",
    "miss",
    "relabel",
    "shift",
    "simulate_raters",
    "spine",
    "split",
    "tissue",
]
