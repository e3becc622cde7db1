"""A file that a page sends: its name is a header, its content the body."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from panmatch.errors import FileError, PanmatchError
from panmatch.playground._dropped_files import DropFolder, check_size

NAME = "x-file-name"  # percent-encoded; pages of other origins cannot send such a header
REFUSED, TOO_LARGE = 422, 413


async def receive_file(request: Request, drops: DropFolder) -> Response:
    """Keep a file until it is opened, and answer with its key; or say why it is refused."""
    name = unquote(request.headers.get(NAME, ""))
    try:
        check_size(name, int(request.headers.get("content-length", "0")))
        key, path = drops.new_file(name)
    except PanmatchError as error:
        return _refusal(error, TOO_LARGE if "too large" in str(error) else REFUSED)
    except ValueError:
        return _refusal(FileError("the length of the file must be a number."), REFUSED)
    try:
        await _write(request, name, path)
    except (PanmatchError, OSError, ClientDisconnect) as error:
        path.unlink(missing_ok=True)
        return _refusal(error, TOO_LARGE)
    drops.keep(key, name, path)
    return JSONResponse({"key": key})


async def _write(request: Request, name: str, path: Path) -> None:
    """Write the body of a request, as long as it is not too large."""
    written = 0
    with path.open("xb") as file:
        async for piece in request.stream():
            written += len(piece)
            check_size(name, written)
            file.write(piece)


def _refusal(error: Exception, status: int) -> Response:
    return JSONResponse({"problem": str(error)}, status)
