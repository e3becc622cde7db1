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

from typing import TYPE_CHECKING

from panmatch.errors import needs_extra

with needs_extra("cli", "Scenes and links"):
    import pydantic as _pydantic  # noqa: F401

from panmatch.playground._exact_areas import exact_overlap
from panmatch.playground._export import evaluate_command, export_scene
from panmatch.playground._file_pair import FilePair
from panmatch.playground._links import page_link, read_link, write_link
from panmatch.playground._presets import PRESETS
from panmatch.playground._shapes import Disc, Ellipse, Stroke
from panmatch.playground._shown_class import ShownClass
from panmatch.playground._states import STRATEGIES, Scene, State, View

if TYPE_CHECKING:
    from panmatch.playground._server import listen, serve


def __getattr__(name: str) -> object:
    """Import the server when it is first needed: drawing and reading links do without it."""
    if name not in ("listen", "serve"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with needs_extra("play", "Pages of the playground"):
        from panmatch.playground import _server

    return getattr(_server, name)


__all__ = [
    "PRESETS",
    "STRATEGIES",
    "Disc",
    "Ellipse",
    "FilePair",
    "Scene",
    "ShownClass",
    "State",
    "Stroke",
    "View",
    "evaluate_command",
    "exact_overlap",
    "export_scene",
    "listen",
    "page_link",
    "read_link",
    "serve",
    "write_link",
]
