"""`panmatch play`: scenes or files in the browser, scored as they change."""

from __future__ import annotations

import shlex
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path

from panmatch import playground
from panmatch.errors import OptionError
from panmatch.playground import FilePair, read_link, write_link


def run_play(
    ref: Path | None,
    pred: Path | None,
    link: str | None,
    port: int,
    *,
    browser: bool,
    allow_header_mismatch: bool,
) -> None:
    """Serve the playground until it is interrupted."""
    if ref is not None and pred is None:
        raise OptionError("PRED is missing: name two files, or none to draw scenes.")
    end = "" if link is None else write_link(read_link(link)[0])
    pair = None
    if ref is not None and pred is not None:
        pair = FilePair.open(ref, pred, allow_header_mismatch=allow_header_mismatch)
    with playground.listen(port) as listening:
        address, number = listening.getsockname()
        url = f"http://{address}:{number}/{end}"
        with suppress(KeyboardInterrupt):
            print(f"Playground: {url} (Ctrl-C ends it)", flush=True)
            if browser:
                # Some browsers run in the terminal, and end later than the server.
                threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
            playground.serve(listening, pair)


def run_export(folder: Path, link: str | None) -> None:
    """Write a scene to files, and say how they are evaluated."""
    state, _ = read_link(link or "")
    for path in playground.export_scene(state, folder):
        print(f"File: {path}")
    print(f"\nTo evaluate them:\n  {shlex.join(playground.evaluate_command(state, folder))}")
