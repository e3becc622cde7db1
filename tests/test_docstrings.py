"""Every example in a docstring runs and prints what it says."""

import doctest
import importlib
import pkgutil
from importlib.util import find_spec

import pytest

import panmatch

MODULES = ["panmatch"] + [
    module.name
    for module in pkgutil.walk_packages(panmatch.__path__, "panmatch.")
    if not module.name.endswith(("__main__", "_core", "native._browser"))
    and (not module.name.startswith("panmatch.torch") or find_spec("torchmetrics"))
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_print_what_they_say(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_there_are_docstring_examples_to_run() -> None:
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name))]
    assert sum(len(test.examples) for test in found) >= 900
