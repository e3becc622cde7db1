"""A scene as files that `panmatch evaluate` reads, with a spec that asks for the same numbers."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from panmatch.errors import FileError, OptionError
from panmatch.formats import write_atomically
from panmatch.playground.drawing.scene import SIDES, Scene
from panmatch.playground.states.state import State
from panmatch.playground.states.strategies import STRATEGIES
from panmatch.playground.states.view import View

SPEC = "spec.yaml"


def export_scene(state: State, folder: Path) -> list[Path]:
    """Write the images of a scene and a spec, and return where they are.

    Raises
    ------
    OptionError
        If the state has no scene.
    FileError
        If one of the files is there already, or cannot be written.
    """
    if state.scene is None:
        raise OptionError("the link is of a pair of files: there is no scene to export.")
    images = _images(state)
    files = {f"{name}.png": _png(image) for name, image in images.items()}
    files[SPEC] = spec_text(state.view, part_labels(state)).encode()
    taken = [folder / name for name in files if (folder / name).exists()]
    if taken:
        raise FileError(f"path={str(taken[0])!r} exists: name another folder, or move it away.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"path={str(folder)!r} cannot be made: {error}.") from error
    for name, content in files.items():
        write_atomically(folder / name, content)
    return [folder / name for name in files]


def evaluate_command(state: State, folder: Path) -> list[str]:
    """Return the arguments that evaluate an exported scene."""
    command = ["panmatch", "evaluate", *(str(folder / f"{side}.png") for side in SIDES)]
    if part_labels(state):
        for side in SIDES:
            command += [f"--{side}-parts", str(folder / f"{side}_parts.png")]
    return [*command, "-s", str(folder / SPEC), "-o", str(folder / "scores")]


def spec_text(view: View, parts: list[int] | None = None) -> str:
    """Return a spec that asks for the numbers of a view, as YAML.

    Examples
    --------
    >>> print(spec_text(View(compared=(), threshold=0.25)), end="")
    matching:
    - strategy: one-to-one
      solver: optimal
    thresholds:
    - 0.25
    """
    import yaml

    names = dict.fromkeys((view.strategy, *view.compared))
    regions = {"regions": True} if view.regions else {}
    content: dict[str, Any] = {
        "matching": [dict(STRATEGIES[name].spec) | regions for name in names],
        "thresholds": [view.threshold],
    }
    if parts:
        content["classes"] = {"object": {"parts": parts}}
        content["part_background"] = view.background
    text: str = yaml.safe_dump(content, sort_keys=False)
    return text


def part_labels(state: State) -> list[int]:
    """Return the parts that occur, if the view asks for parts and there are several (D9)."""
    if state.scene is None or not state.view.parts:
        return []
    found = np.unique(np.concatenate([np.unique(image) for image in state.scene.part_images()]))
    labels: list[int] = found[found > 0].tolist()
    return labels if len(labels) > 1 else []


def _images(state: State) -> dict[str, npt.NDArray[Any]]:
    assert state.scene is not None
    scene: Scene = state.scene
    images: dict[str, npt.NDArray[Any]] = dict(zip(SIDES, scene.label_images(), strict=True))
    if part_labels(state):
        names = (f"{side}_parts" for side in SIDES)
        images |= dict(zip(names, scene.part_images(), strict=True))
    return images


def _png(image: npt.NDArray[Any]) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "png")
    return buffer.getvalue()
