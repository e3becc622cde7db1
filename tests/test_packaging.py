"""What other package managers are told agrees with the project's own metadata."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import panmatch

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = (ROOT / "packaging" / "conda-forge" / "meta.yaml").read_text(encoding="utf-8")
ELSEWHERE = {"isal": "python-isal"}  # names that conda-forge has for a package
EXTRAS = ("cli", "files")  # that the recipe brings along


def bounds(requirements: list[str]) -> dict[str, str]:
    """Return the lowest version of each requirement, by its name in conda-forge."""
    found = dict(re.split(r"\s*>=\s*", one, maxsplit=1) for one in requirements)
    return {ELSEWHERE.get(name, name): version for name, version in found.items()}


def test_the_recipe_has_the_bounds_of_the_project() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = PROJECT["project"]["dependencies"] + [one for name in EXTRAS for one in extras[name]]
    run = RECIPE.split("  run:\n")[1].split("\n\n")[0]
    listed = [line.strip(" -") for line in run.splitlines() if ">=" in line]
    assert bounds(listed) == bounds(wanted)
    host = RECIPE.split("  host:\n")[1].split("  run:\n")[0]
    built = [line.strip(" -") for line in host.splitlines() if ">=" in line]
    assert bounds(built) == bounds(PROJECT["build-system"]["requires"])


def test_every_file_names_the_same_version() -> None:
    assert f'{{% set version = "{panmatch.__version__}" %}}' in RECIPE
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {panmatch.__version__}\n" in citation
    assert f"## {panmatch.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_core_has_three_dependencies() -> None:
    assert len(PROJECT["project"]["dependencies"]) == 3
