"""Build the wheels of this machine's kind, check them, and test each in an empty environment.

Run by `make wheel`. Interpreters that this machine lacks are left out, and named; the tests find no
compiler, since their PATH is that of the environment alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
BUILT_WITH = ("3.11", "3.12")  # the second serves all later versions
MOST_BYTES = 3_000_000
CORE_TESTS = ("tests/native", "tests/labels", "tests/overlap", "tests/matching", "tests/scoring")
NEED_EXTRAS = (
    "*/test_chunked*.py",
    "*/test_components_within_labels.py",
    "*/test_descriptions.py",
    "*/test_inclusive_thresholds.py",
)
BUILT, DIST, TRIED = Path("build/wheels"), Path("dist"), Path("build/tried")
SCRIPTS = "Scripts" if os.name == "nt" else "bin"


def run(*command: str | Path, path: str | None = None) -> None:
    """Run a command, and stop at the first that fails."""
    environment = os.environ if path is None else os.environ | {"PATH": path}
    subprocess.run([str(word) for word in command], check=True, env=environment)


def interpreter(version: str) -> str | None:
    """Return where Python of that version is, if it can be run."""
    found = shutil.which(f"python{version}")
    if found is None or subprocess.run([found, "-V"], capture_output=True).returncode:
        return None
    return found


def build() -> list[Path]:
    """Build a wheel for each interface, and return them as they would be published."""
    for folder in (BUILT, DIST, TRIED):
        shutil.rmtree(folder, ignore_errors=True)
    for python in filter(None, map(interpreter, BUILT_WITH)):
        run("uv", "build", "--quiet", "--wheel", "--python", python, "--out-dir", BUILT)
    DIST.mkdir()
    for wheel in BUILT.glob("*.whl"):
        if sys.platform == "linux":
            run("auditwheel", "repair", "--wheel-dir", DIST, wheel)
        else:
            shutil.copy(wheel, DIST)
    return sorted(DIST.glob("*.whl"))


def check(wheel: Path) -> None:
    """Refuse a wheel that is large, or that asks more of Python than its name says."""
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.2f} MB")
    assert size < MOST_BYTES, f"{wheel.name} has {size} bytes, more than {MOST_BYTES}"
    if "abi3" in wheel.name:
        run("abi3audit", "--strict", wheel)


def try_out(version: str, python: str) -> None:
    """Install in an empty environment without a compiler, and test what the core can do."""
    home = (TRIED / version).absolute()
    run("uv", "venv", "--quiet", "--seed", "--python", python, home)
    bin_folder = home / SCRIPTS
    inside = bin_folder / "python"
    start = time.perf_counter()
    run(inside, "-m", "pip", "install", "--quiet", "--find-links", DIST, "--no-index", "--no-deps",
        "panmatch", path=str(bin_folder))  # fmt: skip
    own = time.perf_counter() - start
    run(inside, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "panmatch",
        "--find-links", DIST, path=str(bin_folder))  # fmt: skip
    total = time.perf_counter() - start
    print(f"Python {version}: installed in {own:.1f} s, {total:.1f} s with what it needs")
    run(inside, "tests/core_only.py", path=str(bin_folder))
    run(inside, "-m", "pip", "install", "--quiet", "pytest", "pytest-xdist", "hypothesis",
        path=str(bin_folder))  # fmt: skip
    leave_out = [f"--ignore-glob={path}" for path in NEED_EXTRAS]
    run(inside, "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider",
        "-p", "tests.without_extras", *leave_out, *CORE_TESTS, path=str(bin_folder))  # fmt: skip
    run(inside, "-c", "import panmatch; assert 'site-packages' in panmatch.__file__")


def main() -> None:
    """Build, check, and try out with every interpreter there is."""
    wheels = build()
    for wheel in wheels:
        check(wheel)
    for version in VERSIONS:
        python = interpreter(version)
        if python is None:
            print(f"Python {version}: not on this machine")
        else:
            try_out(version, python)
    print(f"{len(wheels)} wheels in {DIST}")


if __name__ == "__main__":
    main()
