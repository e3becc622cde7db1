"""Specs that come with panmatch: one commented YAML file each."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

DEFAULT = "instances"


@cache
def preset_names() -> tuple[str, ...]:
    """Return the names of all presets, the default first.

    Examples
    --------
    >>> preset_names()[0]
    'instances'
    """
    found = {file.name.removesuffix(".yaml") for file in files(__name__).iterdir()
             if file.name.endswith(".yaml")}  # fmt: skip
    return DEFAULT, *sorted(found - {DEFAULT})


def preset_text(name: str) -> str:
    """Return the YAML of a preset, comments included."""
    return (files(__name__) / f"{name}.yaml").read_text(encoding="utf-8")
