"""Small pieces of HTML that show values in notebooks.

They take the colours of the page around them, so they are readable on light and dark pages. Text is
escaped, and no scripts run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

BLOCK = "color:inherit;background:transparent;font-size:.95em;line-height:1.45"
PLAIN = "border:0;color:inherit;background:transparent"
TABLE = f"{PLAIN};border-collapse:collapse;font-size:inherit;margin:.3em 0"
RULE = "border-bottom:1px solid currentColor"
CELL = f"{PLAIN};padding:.1em .7em;white-space:nowrap"
QUIET = "opacity:.7"
FINE_STEPS = 300  # of a sparkline; with more, those within a tenth of a pixel are drawn as one


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def number(value: float) -> str:
    """Return a score with three digits, and a dash for NaN."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def block(title: str, *parts: str) -> str:
    """Return the HTML of a value: a title, with parts below each other.

    Examples
    --------
    >>> block("Overlap", "2 < 3").split("<div>")[1:]
    ['<b>Overlap</b></div>', '2 &lt; 3</div></div>']
    """
    inner = "".join(f"<div>{_markup(part)}</div>" for part in parts if part)
    return f'<div style="{BLOCK}"><div><b>{_markup(title)}</b></div>{inner}</div>'


def quiet(text: str) -> Html:
    """Return text in a muted style."""
    return Html(f'<span style="{QUIET}">{_markup(text)}</span>')


def strong(text: str) -> Html:
    """Return text in bold."""
    return Html(f"<b>{_markup(text)}</b>")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Html:
    """Return a table whose first `left` columns are aligned to the left, all others to the right.

    Examples
    --------
    >>> from re import findall
    >>> findall("<t[hd] [^>]*>([^<]*)<", table(["class", "PQ"], [["a & b", "0.5"]]))
    ['class', 'PQ', 'a &amp; b', '0.5']
    """
    lines = [_row("th", head, left, RULE), *(_row("td", row, left) for row in rows)]
    body = "".join(lines[1:])
    return Html(f'<table style="{TABLE}"><thead>{lines[0]}</thead><tbody>{body}</tbody></table>')


def sparkline(
    starts: Sequence[float],
    heights: Sequence[float],
    *,
    width: int = 120,
    height: int = 24,
    title: str = "",
) -> Html:
    """Return a step function on [0, 1) with values in [0, 1] as a small picture.

    Parameters
    ----------
    starts
        Where its steps start, rising from 0; each holds up to the next, the last up to 1.
    heights
        Its value on every step; undefined ones are left out.
    width, height
        In pixels.
    title
        What it shows, for screen readers.

    Examples
    --------
    >>> "M0 6V6H50V18H100" in sparkline([0, 0.5], [0.75, 0.25], width=100, height=24)
    True
    """
    path = _steps(starts, heights, width, height)
    if not path:
        return Html("–")
    words = f"<title>{escape(title)}</title>" if title else ""
    ground = f"M0 {height}H{width}"
    area = "".join(f"{line}V{height}H{line[1:].split()[0]}Z" for line in _lines(path))
    return Html(
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'style="vertical-align:middle;overflow:visible;max-width:none" fill="none" '
        f'stroke="currentColor">{words}'
        f'<path d="{area}" fill="currentColor" fill-opacity=".12" stroke="none"/>'
        f'<path d="{ground}" stroke-opacity=".35"/>'
        f'<path class="steps" d="{path}" stroke-width="1.5"/></svg>'
    )


def plural(n: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> plural(1, "case"), plural(2, "case")
    ('1 case', '2 cases')
    """
    return f"{n} {noun}{'' if n == 1 else 's'}"


def some_of(items: Sequence[object], most: int = 12) -> str:
    """Return the first of many things as text, and how many more there are.

    Examples
    --------
    >>> some_of([3, 4, 5], most=2)
    '3, 4 and 1 more'
    """
    shown = ", ".join(map(str, items[:most]))
    return f"{shown} and {len(items) - most} more" if len(items) > most else shown


def _steps(starts: Sequence[float], heights: Sequence[float], width: int, height: int) -> str:
    digits = 3 if len(starts) <= FINE_STEPS else 1
    path, drawn = "", ""
    stops = [*starts[1:], 1.0]
    for start, stop, value in zip(starts, stops, heights, strict=True):
        x, end = _short(start * width, digits), _short(stop * width, digits)
        if math.isnan(value):
            drawn = ""
        elif x != end:
            path += f"{'' if drawn == x else f'M{x} {_level(value, height)}'}"
            path += f"V{_level(value, height)}H{end}"
            drawn = end
    return path


def _lines(path: str) -> list[str]:
    """Return the lines of a path; there are several if the function is undefined in between."""
    return [f"M{line}" for line in path.split("M") if line]


def _level(value: float, height: int) -> str:
    return _short((1.0 - value) * height, 3)


def _short(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def _row(tag: str, cells: Sequence[str], left: int, more: str = "") -> str:
    return (
        '<tr style="background:transparent">'
        + "".join(
            f'<{tag} style="{CELL};text-align:{"left" if i < left else "right"};{more}">'
            f"{_markup(cell)}</{tag}>"
            for i, cell in enumerate(cells)
        )
        + "</tr>"
    )


def _markup(text: str) -> str:
    return text if isinstance(text, Html) else escape(text)
