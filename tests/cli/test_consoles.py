"""Consoles with an old code page, and systems that cannot fork: what Windows has."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import panmatch
from panmatch.cli._console import PLAIN
from tests.commands import STRICT_PYTHON
from tests.datasets.folders import make_folders, tables

PACKAGE = Path(panmatch.__file__).parent

SPAWN_ONLY = (
    "import multiprocessing, sys\n"
    "multiprocessing.get_all_start_methods = lambda: ['spawn']\n"
    "from panmatch.cli import main\n"
    "if __name__ == '__main__':\n"
    "    sys.argv[0] = 'panmatch'\n"
    "    main()\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("cases")
    make_folders(made, 6)
    return made


def run(
    *arguments: object, cwd: Path, encoding: str = "utf-8", program: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[bytes]:
    command = [*STRICT_PYTHON, *(program or ("-m", "panmatch"))]
    return subprocess.run(
        [*command, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "100"},
    )


@pytest.mark.parametrize("encoding", ["cp1252"])
def test_every_screen_can_be_shown_in_an_old_code_page(folder: Path, encoding: str) -> None:
    out = folder / encoding
    commands: list[tuple[object, ...]] = [
        ("evaluate", folder / "ref", folder / "model", "--all", "-o", out),
        ("show", "--all", out),
        ("report", out),
        ("spec", "--strategies"),
        ("spec", "cells"),
        ("protocol", "list"),
        ("evaluate", "--help"),
    ]
    for command in commands:
        done = run(*command, cwd=folder, encoding=encoding)
        assert done.returncode == 0, done.stderr.decode(encoding)
        assert "\ufffd" not in done.stdout.decode(encoding)
    shown = run("show", out, cwd=folder, encoding=encoding).stdout.decode(encoding)
    assert "tau" in shown or (encoding == "cp437" and "τ" in shown)
    assert "?" not in shown


def test_plain_letters_are_plain() -> None:
    assert all(text.isascii() for text in PLAIN.values())


def test_json_is_the_same_in_any_code_page(folder: Path) -> None:
    out = folder / "json"
    run("evaluate", folder / "ref", folder / "model", "-o", out, cwd=folder)
    texts = [run("show", "--json", out, cwd=folder, encoding=e).stdout for e in ("utf-8", "cp1252")]
    assert json.loads(texts[0]) == json.loads(texts[1])


def test_workers_that_are_spawned_write_what_forked_ones_write(folder: Path) -> None:
    (folder / "spawn_only.py").write_text(SPAWN_ONLY)
    command = ("evaluate", folder / "ref", folder / "model", "-j", 2, "-o")
    forked = run(*command, folder / "forked", cwd=folder)
    spawned = run(*command, folder / "spawned", cwd=folder, program=("spawn_only.py",))
    assert (forked.returncode, spawned.returncode) == (0, 0), spawned.stderr.decode()
    assert tables(folder / "spawned") == tables(folder / "forked")


def test_files_are_read_and_written_in_utf_8_wherever_it_runs(folder: Path) -> None:
    strict = (
        "-X",
        "warn_default_encoding",
        "-W",
        "default::EncodingWarning",
        "-m",
        "panmatch",
    )
    for command in (
        ("evaluate", folder / "ref", folder / "model", "--report", "-o", folder / "strict"),
        ("compare", folder / "strict"),
        ("spec", "--from", folder / "ref"),
        ("protocol", "show", "stardist"),
    ):
        done = run(*command, cwd=folder, program=strict)
        ours = [line for line in done.stderr.decode().splitlines() if f"{PACKAGE}{os.sep}" in line]
        assert not [line for line in ours if "EncodingWarning" in line]
        assert done.returncode == 0 or command[0] == "compare", done.stderr.decode()


@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("3", "3")])
def test_products_of_matrices_leave_the_cores_to_the_workers(given: str | None, used: str) -> None:
    """OpenBLAS reads the variable when numpy is loaded, so it must be set before."""
    script = (
        "import os, sys, panmatch.cli as cli; assert 'numpy' not in sys.modules; "
        "sys.argv = ['panmatch', '--help']\n"
        "try: cli.main()\n"
        "except SystemExit: print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    env = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    env |= {} if given is None else {"OPENBLAS_NUM_THREADS": given}
    command = [*STRICT_PYTHON, "-c", script]
    shown = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == used
