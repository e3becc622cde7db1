"""Every block of every page does what the page says.

Python prints what the page shows below it, commands run and print what is shown, and YAML is a
valid spec. With ``UPDATE_PAGES=1`` pages show what commands print now: look at the difference.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from panmatch.cli._app import app
from panmatch.spec import as_spec
from tests.commands import panmatch
from tests.page_blocks import Block, Command, blocks_of, commands_of, notes_of, shows
from tests.page_folders import FOLDERS

ROOT = Path(__file__).parents[1]
PLAIN = {"text", "bibtex", "json", "latex", "math", "html", "dockerfile", "toml"}  # to see
SHOWN_ONLY = (
    "panmatch play",
    "panmatch demo",
    "panmatch --install-completion",
)  # run by tests of their own
SHELL = set("|&;<>()$`*?[]{}~#!\n")  # a command with any of these needs a shell
EXTRAS = set(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
])  # fmt: skip
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def pages() -> list[Path]:
    """Return all pages, written and generated, that have a block of code."""
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "notebooks" / "README.md"]
    files += [
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if not {"_build", "generated"} & set(page.parts)
    ]
    return [page for page in files if any(blocks_of(page.read_text(encoding="utf-8")))]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the programs that pages may call."""
    folder = tmp_path_factory.mktemp("programs")
    for name, module in {"panmatch": " -m panmatch", "python": ""}.items():
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -W error{module} "$@"\n')
        script.chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def written() -> dict[str, Path]:
    """Return where the folders that several pages share have been written so far."""
    return {}


def start_folder(name: str, made: dict[str, Path], factory: pytest.TempPathFactory) -> Path:
    """Return a new folder with the files that a page starts with."""
    folder = factory.mktemp("page")
    if name:
        if name not in made:
            made[name] = factory.mktemp(name)
            FOLDERS[name](made[name])
        shutil.copytree(made[name], folder, dirs_exist_ok=True)
    return folder


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_does_what_its_page_says(
    page: Path,
    programs: Path,
    written: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = page.read_text(encoding="utf-8")
    notes = notes_of(text)
    if (needed := notes.get("needs")) and find_spec(needed) is None:
        pytest.skip(f"needs {needed}: pip install 'panmatch[{needed}]'")
    monkeypatch.chdir(start_folder(notes.get("folder", ""), written, tmp_path_factory))
    known: dict[str, object] = {}
    for block in blocks_of(text):
        if "file" in block.notes:
            Path(block.notes["file"]).write_text(block.text, encoding="utf-8")
        if "not run" in block.notes or block.language in PLAIN:
            continue
        if block.language == "python":
            run_python(page, block, known)
        elif block.language == "yaml":
            as_spec(yaml.safe_load(block.text))
        else:
            assert block.language == "console", f"line {block.line}: what is a {block.language}?"
            for command in commands_of(block):
                printed = check(command, block, programs, run=notes.get("commands") != "parsed")
                if printed and not shows(command.shown, printed):
                    assert update(page, command, printed), (
                        f"line {block.line}: {command}\n{printed}"
                    )


def run_python(page: Path, block: Block, known: dict[str, object]) -> None:
    if "file" in block.notes:
        return
    test = doctest.DocTestParser().get_doctest(
        block.text, known, page.name, str(page), block.line - 1
    )
    assert test.examples, f"line {block.line}: write this example with >>>, so that it is run"
    report: list[str] = []
    test.globs = known
    failed = doctest.DocTestRunner().run(test, out=report.append, clear_globs=False).failed
    assert failed == 0, "".join(report)


def check(command: Command, block: Block, programs: Path, *, run: bool) -> str:
    """Run a command, or check that it could be run where that is not wanted.

    Return what it prints; nothing if the page shows nothing, or if it was not run.
    """
    words = shlex.split(command.text, comments=True)
    where = f"line {block.line}: {command.text}"
    if words[0] == "pip":
        named = [
            extra for text in re.findall(r"\[([\w,]+)\]", command.text) for extra in text.split(",")
        ]
        assert set(named) <= EXTRAS, where
    elif words[0] == "make":
        assert {word for word in words[1:] if "=" not in word} <= TARGETS, where
    elif not run or command.text.startswith(SHOWN_ONLY):
        parse(words)
    else:
        printed = shell(command.text, programs, int(block.notes.get("exit", 0)))
        return printed if command.shown.strip() else ""
    return ""


def update(page: Path, command: Command, printed: str) -> bool:
    """Show what a command prints now, if that is asked for and the page leaves nothing out."""
    if "UPDATE_PAGES" not in os.environ or "\n…\n" in f"\n{command.shown}":
        return False
    text = page.read_text(encoding="utf-8")
    shown = command.shown.rstrip("\n")
    page.write_text(text.replace(shown, printed.rstrip("\n"), 1), encoding="utf-8")
    return True


def parse(words: list[str]) -> None:
    """Let the command line read the words of a command: unknown options are an error."""
    assert words[0] == "panmatch", words
    command: Any = typer.main.get_command(app)
    parts = list(takewhile(lambda word: word not in (">", ">>", "|"), words[1:]))
    while parts and hasattr(command, "commands") and not parts[0].startswith("-"):
        command = command.commands[parts.pop(0)]
    if parts not in (["--help"], ["--install-completion"], ["--version"]):
        command.make_context(" ".join(words[:2]), parts)


def shell(command: str, programs: Path, expected: int) -> str:
    """Run a command as at a plain terminal of 80 columns, and return what it prints."""
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "80",
        "NO_COLOR": "1",
    }
    if command.startswith("panmatch ") and not SHELL & set(command):
        done = panmatch(*shlex.split(command)[1:], environment=environment)
    else:
        done = subprocess.run(
            ["bash", "-c", command],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
    assert done.returncode == expected, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + (done.stderr if expected else "")


def test_a_page_shows_what_is_printed_but_for_what_it_leaves_out() -> None:
    assert shows("PQ 0.5\n", "PQ 0.5  \n\n")
    assert not shows("PQ 0.5\n", "PQ 0.6\n")
    assert not shows("PQ 0.5\n", "PQ 0.5\nmore\n")
    assert not shows("PQ 0.5\n", "PQ 0x5\n")
    assert shows("first\n…\nlast\n", "first\nlast\n")
    assert shows("first\n…\nlast\n", "first\n2\n3\nlast\n")
    assert shows("took … s\n", "took 1.3 s\n")
    assert not shows("took … s\n", "took 1.3\n s\n")


def test_blocks_know_their_language_notes_and_line() -> None:
    page = (
        "<!-- folder: demo -->\n\n```python\n>>> 1\n1\n```\n\n"
        "<!-- exit: 2 -->\n```console\n$ a \\\n    b\nout\n$ c\n```\n```\nplain\n```\n"
    )
    assert notes_of(page) == {"folder": "demo"}
    first, second = blocks_of(page)
    assert (first.language, first.line, first.notes) == ("python", 3, {})
    assert (second.line, second.notes) == (9, {"exit": "2"})
    assert list(commands_of(second)) == [Command("a b", "out\n"), Command("c", "")]


def test_commands_with_unknown_options_are_found() -> None:
    parse(["panmatch", "play", "--port", "0"])
    with pytest.raises(Exception, match="--prot"):
        parse(["panmatch", "play", "--prot", "0"])
