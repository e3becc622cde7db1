"""Every example in a docstring and in the README runs and prints what it says."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import panmatch

MODULES = ["panmatch"] + [
    module.name
    for module in pkgutil.walk_packages(panmatch.__path__, "panmatch.")
    if not module.name.endswith(("__main__", "_core"))
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_print_what_they_say(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_there_are_docstring_examples_to_run() -> None:
    attempted = sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES)
    assert attempted >= 20


def test_readme_example_prints_what_it_says() -> None:
    readme = Path(__file__).parents[1] / "README.md"
    result = doctest.testfile(str(readme), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0
