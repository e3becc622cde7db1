"""Help pages and lists on a terminal of 80 columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from panmatch.spec import preset_names, preset_text
from tests.cli.terminals import in_terminal

COMMANDS = (
    "demo", "evaluate", "advise", "play", "spec", "migrate", "compare", "report", "show",
    "protocol", "cite", "subgroups", "rank", "power",
)  # fmt: skip


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_help_page_fits_and_ends_with_examples(tmp_path: Path, command: str) -> None:
    shown = in_terminal(80, *command.split(), "--help", cwd=tmp_path)
    assert shown.code == 0
    assert max(map(len, shown.lines)) <= 80
    below = shown.text.split("\n", 1)[1]
    for form in ("NAME[/OPTION…]", "[/OPTION=VALUE…]", "OUT..."):
        below = below.replace(form, "")
    assert not any(cut in below for cut in ("…", "..."))  # neither options nor sentences
    examples = shown.text.split("\n  Examples:\n")[1].rstrip().splitlines()
    assert all(line.startswith("    panmatch ") for line in examples)
    assert all(line.split()[1] == command for line in examples if command)


def test_all_commands_and_completion_are_named(tmp_path: Path) -> None:
    text = in_terminal(80, "--help", cwd=tmp_path).text
    assert all(f"\n  {name} " in text for name in COMMANDS)
    assert "panmatch --install-completion" in text


@pytest.mark.parametrize("width", [80, 120])
def test_presets_are_listed_in_whole_sentences(tmp_path: Path, width: int) -> None:
    shown = in_terminal(width, "spec", "--list", cwd=tmp_path)
    assert max(map(len, shown.lines)) <= width
    said = " ".join(shown.text.split())
    for name in preset_names():
        comment = preset_text(name).split("\n\n")[0].splitlines()
        lines = [line.lstrip("# ") for line in comment if line.startswith("#")]
        assert f"{name} {' '.join(lines)}" in said
        assert lines[-1].endswith(".")
