"""Pages and figures of studies: what is written, and where."""

from __future__ import annotations

from pathlib import Path

import panmatch as pm
from studies.study import Picture

BEGIN, END = "<!-- begin: written by `python -m studies` -->", "<!-- end -->"
DPI = 120
MOST_BYTES = 150_000


def write_page(name: str, title: str, block: str, out: Path) -> Path:
    """Put the block between the marks of a page; a page that is not there yet is made."""
    page = out / f"{name}.md"
    replace_block(page, block, f"# {title}\n\n{BEGIN}\n{END}\n")
    return page


def replace_block(page: Path, block: str, empty: str) -> None:
    """Replace what lies between the marks."""
    text = page.read_text(encoding="utf-8") if page.exists() else empty
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    page.write_text(f"{head}{BEGIN}\n\n{block.strip()}\n\n{END}{tail}", encoding="utf-8")


def block_of(page: Path) -> str:
    """Return what lies between the marks."""
    return page.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0].strip()


def write_index(rows: dict[str, list[str]], head: str, out: Path) -> None:
    """Put the rows of some studies into the index; those of others stay as they are."""
    index = out / "index.md"
    known: dict[str, list[str]] = {}
    for line in block_of(index).splitlines() if index.exists() else ():
        if "](" in line:
            known.setdefault(line.split("](")[1].split(".md")[0], []).append(line)
    block = "\n".join([head, *(line for lines in (known | rows).values() for line in lines)])
    replace_block(index, block, f"# Case studies\n\n{BEGIN}\n{END}\n")


def save(picture: Picture, page: str, out: Path) -> str:
    """Save a figure as a small PNG, and return the lines that show it."""
    folder = out / "images"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{page}-{picture.name}.png"
    picture.figure.savefig(path, dpi=DPI, facecolor="white", metadata={"Software": None})
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise pm.PanmatchError(
            f"{path.name} has {size} bytes; draw it smaller, {MOST_BYTES} at most."
        )
    return f"![{picture.words}](images/{path.name})\n\n*{picture.words}*"
