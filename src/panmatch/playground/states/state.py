"""The state of the playground: what a link carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from panmatch.errors import OptionError
from panmatch.playground.checks import as_mapping, check_keys, inside, shown
from panmatch.playground.drawing.scene import Scene
from panmatch.playground.states.view import View

FORMAT = 1


@dataclass(frozen=True, slots=True)
class State:
    """A scene and the view of it; the scene is None where a pair of files is open."""

    scene: Scene | None
    view: View = field(default_factory=View)

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON knows it, with all keys."""
        scene = None if self.scene is None else self.scene.to_dict()
        return {"format": FORMAT, "scene": scene, "view": self.view.to_dict()}

    @classmethod
    def from_dict(cls, given: object) -> State:
        """Read a state as `to_dict` writes it, or raise an `OptionError`."""
        values = as_mapping("state", given)
        check_keys("a state", values, needed=("format", "scene"), optional=("view",))
        if values["format"] != FORMAT or isinstance(values["format"], bool):
            raise OptionError(
                f"format={shown(values['format'])} is not known; this version reads {FORMAT}."
            )
        scene = values["scene"]
        with inside("view"):
            view = View.from_dict(values.get("view", {}))
        return cls(None if scene is None else Scene.from_dict(scene), view)
