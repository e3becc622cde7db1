"""Run panoptica's own examples and unit tests with the drop-in in place of panoptica.

Usage: python tests/compat/run_their_tests.py FOLDER

FOLDER is a copy of panoptica's repository, which is left as it is: examples and tests are copied to
a temporary folder, beside a package `panoptica` that hands on `panmatch.compat.panoptica`. What is
left out, and why, is in their_tests.txt.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

LEFT_OUT = Path(__file__).with_name("their_tests.txt")
COPIED = ("examples", "unit_tests")
CONFIGS = "panoptica/configs"
WITH_QUIRKS = "with quirks"
# It stops at an assertion of its own in panoptica 2.1.7, which keeps steps only if asked to.
CORRECTED = {
    "example_spine_semantic.py": (
        "save_group_times=True,",
        "save_group_times=True, log_intermediate_steps=True,",
    )
}

STAND_IN = """
import os
import sys
from functools import partialmethod
from types import ModuleType
import panmatch.compat.panoptica as ours
from panmatch.compat.panoptica import *

if "QUIRKS" in os.environ:
    Panoptica_Evaluator.__init__ = partialmethod(Panoptica_Evaluator.__init__, quirks=True)


class NotOffered:
    # A name that tests import and panmatch does not offer: using it is an error.
    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        return NotOffered(f"{self._name}.{name}")

    def __call__(self, *values, **named):
        raise NotImplementedError(f"panmatch.compat.panoptica does not offer {self._name}")


def hand_on(name, module):
    stand_in = ModuleType(f"panoptica.{name}")
    stand_in.__dict__.update(vars(module))
    stand_in.__name__, stand_in.__path__ = f"panoptica.{name}", []
    stand_in.__getattr__ = lambda wanted: NotOffered(f"{name}.{wanted}")
    sys.modules[f"panoptica.{name}"] = stand_in
    if "." not in name:
        globals()[name] = stand_in


for full, module in list(sys.modules.items()):
    if full.startswith(ours.__name__ + ".") and not full.rpartition(".")[2].startswith("_"):
        hand_on(full.removeprefix(ours.__name__ + "."), module)
sys.modules["panoptica.metrics"]._Metric = type(Metric.DSC.value)  # which a test asks for
for name in ("utils.input_check_and_conversion.sanity_checker", "utils.filepath"):
    hand_on(name, ModuleType(name))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return NotOffered(name)
"""
# Libraries that only the examples use, for progress bars and threads.
HELPERS = {
    "tqdm": "def tqdm(items, **options):\n    return items\n",
    "joblib": "def delayed(function):\n    return function\n\n\nParallel = None\n",
}


def main(folder: str) -> int:
    """Run everything, print a line for each, and return how many failed."""
    source = Path(folder)
    if not (source / "unit_tests").is_dir():
        print(f"{folder} is not a copy of panoptica's repository: it has no unit_tests.")
        return 1
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        for name in COPIED:
            shutil.copytree(source / name, root / name)
        shutil.copytree(source / CONFIGS, root / CONFIGS)
        (root / "panoptica" / "__init__.py").write_text(STAND_IN)
        for name, (wrong, right) in CORRECTED.items():
            path = root / "examples" / name
            path.write_text(path.read_text().replace(wrong, right))
        for name, text in HELPERS.items():
            if find_spec(name) is None:
                (root / f"{name}.py").write_text(text)
        left_out = read_left_out()
        failed = sum(not run_example(path) for path in examples(root))
        return failed + run_tests(root, left_out)


def examples(root: Path) -> list[Path]:
    return sorted((root / "examples").glob("example_*.py"))


def read_left_out() -> dict[str, str]:
    """Return the reasons by test, or by file of tests."""
    lines = LEFT_OUT.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("  ") for line in lines if line.strip() and not line.startswith("#"))
    return {name: reason.strip() for name, _, reason in pairs}


def run_example(path: Path) -> bool:
    done = subprocess.run(
        [sys.executable, path.name],
        cwd=path.parent,
        env=environment(path.parents[1]),
        capture_output=True,
        text=True,
        check=False,
    )
    print(f"{'passed' if done.returncode == 0 else 'FAILED':8}  examples/{path.name}")
    if done.returncode:
        print(done.stderr[-2000:])
    return done.returncode == 0


def run_tests(root: Path, left_out: dict[str, str]) -> int:
    """Run all unit tests but those that are left out."""
    options, quirky = ["unit_tests"], list[str]()
    for name, reason in left_out.items():
        if name.startswith("test_"):
            how = "--deselect" if "::" in name else "--ignore"
            options.append(f"{how}=unit_tests/{name}")
            if reason.startswith(WITH_QUIRKS):
                quirky.append(f"unit_tests/{name}")
            else:
                print(f"left out  {name}: {reason}")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    failed = subprocess.run([*command, *options], cwd=root, env=environment(root), check=False)
    print("with quirks=True:")
    other = {**environment(root), "QUIRKS": "1"}
    also = subprocess.run([*command, *quirky], cwd=root, env=other, check=False)
    return failed.returncode + also.returncode


def environment(root: Path) -> dict[str, str]:
    known = os.environ.get("PYTHONPATH", "")
    return {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{known}"}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
