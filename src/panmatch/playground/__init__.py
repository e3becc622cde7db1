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

from importlib import import_module
from typing import TYPE_CHECKING

from panmatch.errors import needs_extra

with needs_extra("cli", "Scenes and links"):
    import yaml as _yaml  # noqa: F401

from panmatch.playground._exact_areas import exact_overlap
from panmatch.playground._export import evaluate_command, export_scene
from panmatch.playground._links import page_link, read_link, write_link
from panmatch.playground._presets import PRESETS
from panmatch.playground._shapes import Disc, Ellipse, Stroke
from panmatch.playground._states import STRATEGIES, Scene, State, View

if TYPE_CHECKING:
    from panmatch.playground._file_pair import FilePair
    from panmatch.playground._server import listen, serve
    from panmatch.playground._shown_class import ShownClass

# Drawing and reading links do without files and without the server.
_LATER = {
    "FilePair": ("_file_pair", "cli", "Pairs of files"),
    "ShownClass": ("_shown_class", "cli", "Classes of a spec"),
    "listen": ("_server", "play", "Pages of the playground"),
    "serve": ("_server", "play", "Pages of the playground"),
}


def __getattr__(name: str) -> object:
    """Import what a page without a server lacks when it is first needed."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, extra, what = _LATER[name]
    with needs_extra(extra, what):
        return getattr(import_module(f"panmatch.playground.{module}"), name)


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
