"""`python -m faults`: do what goes wrong, and write docs/explanation/faults.md."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from faults import bombs, disks, names, processes, stored_results
from faults.fault import BrokenError, Fault, UnavailableError

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "faults.md"
GROUPS = {
    "Crashed and stopped processes": processes.FAULTS,
    "Disks and folders": disks.FAULTS,
    "Stored results and edited inputs": stored_results.FAULTS,
    "Names": names.FAULTS,
    "Files that are not what they seem": bombs.FAULTS,
}
INTRODUCTION = """\
# When things go wrong

This page shows how panmatch copes with crashes, full disks, damaged files and hostile names.
`make faults` causes every one of these faults for real, on one machine and without a network. It
checks what must hold and writes this page. If something does not hold, its row says so in bold and
the command fails.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Cause the faults that are named on the command line, or all; only all make the page."""
    known = {fault.cause.__name__: fault for faults in GROUPS.values() for fault in faults}
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    chosen = parser.parse_args(arguments).names
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        parser.error(f"there is no fault {unknown[0]!r}; there are {', '.join(known)}.")
    wanted = [known[name] for name in chosen] or list(known.values())
    happened = {fault: _what_happened(fault) for fault in wanted}
    if not chosen:
        PAGE.write_text(_page(happened), encoding="utf-8")
    return int(any(text.startswith("**") for text in happened.values()))


def _what_happened(fault: Fault) -> str:
    start = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            text = fault.cause(Path(folder))
        except BrokenError as error:
            text = f"**Does not hold:** {error}"
        except UnavailableError as error:
            text = f"Not tried: {error}."
        except Exception as error:
            text = f"**Does not hold:** {type(error).__name__}: {error}"
    seconds = time.monotonic() - start
    print(f"{fault.cause.__name__} ({seconds:.0f} s): {text}", file=sys.stderr, flush=True)
    return text


def _page(happened: dict[Fault, str]) -> str:
    lines = [INTRODUCTION]
    for title, faults in GROUPS.items():
        lines += [f"## {title}", "", "| What was done | What happened |", "|---|---|"]
        lines += [f"| {fault.done} | {_cell(happened[fault])} |" for fault in faults]
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    sys.exit(main())
