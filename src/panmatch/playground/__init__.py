"""The playground: scenes of shapes, what every strategy makes of them, and links to them.

Examples
--------
>>> import panmatch as pm
>>> from panmatch.playground import Disc, Scene
>>> scene = Scene(reference=[Disc(300, 181, 40)], prediction=[Disc(310, 181, 40)])
>>> reference, prediction = scene.label_images()
>>> pm.match(pm.count_overlaps(reference, prediction), threshold=0.5).pairs
array([[1, 1]])
"""

from panmatch.playground.drawing.exact_areas import exact_overlap
from panmatch.playground.drawing.scene import Scene
from panmatch.playground.drawing.shapes import Disc, Ellipse, Stroke
from panmatch.playground.states.links import read_link, write_link
from panmatch.playground.states.presets import PRESETS
from panmatch.playground.states.state import State
from panmatch.playground.states.strategies import STRATEGIES
from panmatch.playground.states.view import View

__all__ = [
    "PRESETS",
    "STRATEGIES",
    "Disc",
    "Ellipse",
    "Scene",
    "State",
    "Stroke",
    "View",
    "exact_overlap",
    "read_link",
    "write_link",
]
