"""A package's face is what other packages import; everything behind it is private."""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path

import pytest

import panmatch

SOURCE = Path(__file__).parents[1] / "src" / "panmatch"
PACKAGES = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
MODULES = sorted(SOURCE.rglob("*.py"))
OURS = ("native",)  # a face for the compiled module
NESTED = {"compat": ("panoptica",)}  # packages that are faces within a face
MOST_MODULES = 400
FEWEST_LINES = 40  # of a module that is neither a face nor a metric


@cache
def imported(path: Path) -> list[str]:
    """Return the modules of panmatch that a file imports, also inside functions."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
    return [module for module in found if module.startswith("panmatch")]


@pytest.mark.parametrize("package", PACKAGES)
def test_other_packages_import_from_the_face_only(package: str) -> None:
    for path in MODULES:
        owner = path.relative_to(SOURCE).parts[0]
        around = [
            module
            for module in imported(path)
            if module.startswith(f"panmatch.{package}.") and owner != package
        ]
        assert not around, f"{path.relative_to(SOURCE)} imports {around[0]}"


@pytest.mark.parametrize("package", [name for name in PACKAGES if name not in OURS])
def test_everything_behind_a_face_is_private(package: str) -> None:
    nested = NESTED.get(package, ())
    for folder in (SOURCE / package, *(SOURCE / package / name for name in nested)):
        for path in folder.glob("*"):
            if path.suffix == ".py" or (path / "__init__.py").exists():
                assert path.name.startswith("_") or path.name in nested, f"{path} is public"


@pytest.mark.parametrize("package", [name for name in PACKAGES if name not in ("torch", *OURS)])
def test_a_face_lists_what_it_exports(package: str) -> None:
    face = importlib.import_module(f"panmatch.{package}")
    names = face.__all__
    assert list(names) == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper()
                                                          , name))  # fmt: skip
    for name in names:
        assert getattr(face, name) is not None


def test_a_module_never_has_the_name_of_what_its_package_exports() -> None:
    for package in PACKAGES:
        if package in ("torch", *OURS):
            continue
        exported = set(importlib.import_module(f"panmatch.{package}").__all__)
        assert not exported & {path.stem for path in (SOURCE / package).glob("*.py")}


def test_there_are_not_many_modules_and_none_is_a_sliver() -> None:
    assert len(MODULES) <= MOST_MODULES
    longest = max(MODULES, key=lambda path: len(path.read_text(encoding="utf-8").splitlines()))
    assert len(longest.read_text(encoding="utf-8").splitlines()) <= 450, longest
    for path in MODULES:
        if not path.name.startswith("__") and path.parent.name != "_metrics":
            lines = len(path.read_text(encoding="utf-8").splitlines())
            assert lines >= FEWEST_LINES or path.name == "_lazy.py", path


def test_the_package_exports_its_public_names() -> None:
    assert {"count_overlaps", "match", "curve", "evaluate", "measure"} <= set(panmatch.__all__)
