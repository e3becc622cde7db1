"""Made-up scenes and known mistakes: for the demo, the notebooks, tests and benchmarks.

A scene is a label image that serves as reference; a mistake turns it into a prediction whose true
positives, false positives and false negatives are known beforehand. An anatomy is a scene with the
labels of a preset; a simulated model predicts it with one habit, and lists what it got wrong.

Examples
--------
>>> from panmatch import phantoms
>>> reference = phantoms.balls((48, 48), 5, radius=(3, 5))
>>> prediction = phantoms.miss(phantoms.dilate(reference, 1), ids=[2])
>>> sorted(set(reference.flat) - set(prediction.flat)) == [2]
True
>>> column = phantoms.spine((64, 48), 2)
>>> phantoms.SIMULATED_MODELS["merger"].predict(column).profile
Profile(cut={}, merged=((23, 24),), missed=(), made_up=())
"""

from panmatch.phantoms.anatomy import Anatomy
from panmatch.phantoms.cells import cells
from panmatch.phantoms.lesions import brain_metastases, liver_lesions
from panmatch.phantoms.mistakes import (
    dilate,
    erode,
    fragment,
    hallucinate,
    merge_neighbours,
    miss,
    relabel,
    shift,
)
from panmatch.phantoms.predictions import Prediction, Profile
from panmatch.phantoms.scenes import balls, blobs, tissue
from panmatch.phantoms.simulated_models import (
    SIMULATED_MODELS,
    Fragmenter,
    Hallucinator,
    Merger,
    Redrawer,
    SimulatedModel,
    SmallLesionMisser,
)
from panmatch.phantoms.spine import spine

__all__ = [
    "SIMULATED_MODELS",
    "Anatomy",
    "Fragmenter",
    "Hallucinator",
    "Merger",
    "Prediction",
    "Profile",
    "Redrawer",
    "SimulatedModel",
    "SmallLesionMisser",
    "balls",
    "blobs",
    "brain_metastases",
    "cells",
    "dilate",
    "erode",
    "fragment",
    "hallucinate",
    "liver_lesions",
    "merge_neighbours",
    "miss",
    "relabel",
    "shift",
    "spine",
    "tissue",
]
