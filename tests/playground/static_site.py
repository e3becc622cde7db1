"""The site without a server, as `make site` builds it, behind a plain file server."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("PANMATCH_SITE", ROOT / "build" / "site" / "playground"))

needs_site = pytest.mark.skipif(
    not (SITE / "engine" / "core.wasm").exists(),
    reason="the site is not built: `make build/site/playground` needs npm and the network",
)


class _Files(SimpleHTTPRequestHandler):
    """Files of a folder and nothing else, without a word on the console."""

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        del format, arguments

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """Send a file, unless the tab is gone."""
        try:
            super().copyfile(source, outputfile)
        except ConnectionError:
            self.close_connection = True


@contextmanager
def file_server(folder: Path = SITE) -> Iterator[str]:
    """Yield the address of the site, below a path, as a host of pages would have it."""
    serve = partial(_Files, directory=str(folder.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/{folder.name}/"
        finally:
            server.shutdown()
            thread.join()
