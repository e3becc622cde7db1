"""Every example in a docstring and in the README runs and prints what it says."""

import doctest
import importlib
import pkgutil
from importlib.util import find_spec
from pathlib import Path

import pytest

import panmatch

MODULES = ["panmatch"] + [
    module.name
    for module in pkgutil.walk_packages(panmatch.__path__, "panmatch.")
    if not module.name.endswith(("__main__", "_core"))
    and (not module.name.startswith("panmatch.torch") or find_spec("torchmetrics"))
]
NEEDS_TORCH = pytest.mark.skipif(
    find_spec("torchmetrics") is None, reason="needs torch: pip install 'panmatch[torch]'"
)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_print_what_they_say(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_there_are_docstring_examples_to_run() -> None:
    attempted = sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES)
    assert attempted >= 20


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/how-to/chunked-volumes.md",
        "docs/how-to/classes-and-parts.md",
        "docs/how-to/coming-from-panoptica.md",
        "docs/explanation/definitions.md",
        "docs/explanation/error-budget.md",
        "docs/how-to/evaluate.md",
        "docs/reference/metrics.md",
        "docs/explanation/optimal-matching.md",
        "docs/reference/protocols.md",
        "docs/explanation/related.md",
        "docs/start/index.md",
        pytest.param("docs/how-to/training.md", marks=NEEDS_TORCH),
    ],
)
def test_examples_of_a_page_print_what_they_say(page: str) -> None:
    path = Path(__file__).parents[1] / page
    result = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0
