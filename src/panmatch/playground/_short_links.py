"""The format of our links: a scene and a view as short text, with all digits of every number.

``1:REFERENCE:PREDICTION:VIEW``, or ``1:VIEW`` where there is no scene. Shapes are separated by
commas, and their numbers by underscores: ``x_y_r`` is a disc, ``Ex_y_rx_ry_angle`` an ellipse and
``Swidth_x_y_x_y…`` a stroke; ``P`` and factors add parts, then ``C`` and a number a confidence. A
number is a count of hundredths in base 36 where that is exact, else "~" and its decimal digits. The
view names only what differs from the defaults. `static/js/links.js` writes the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal

from panmatch.errors import LinkError
from panmatch.playground._checks import shown, unknown
from panmatch.playground._shapes import Disc, Ellipse
from panmatch.playground._states import SIDES, AnyShape, State, View
from panmatch.playground._validation import Message, ordinal

HOSTED = "https://panmatch.github.io/panmatch/playground/"  # where links open without a server
VERSION = "1"
STEPS = 100  # of a unit: numbers on this grid are short
LARGEST = 10**12  # steps; more are written in decimal digits
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
DEFAULTS = View()
LISTS = ("compared", "curves")
FLAGS = ("regions", "parts", "voronoi", "grid")
WHOLE = ("axis", "slice")
NUMBERS = ("threshold", "cut")
DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")


def write_short(state: State) -> str:
    """Return the text of a state.

    Examples
    --------
    >>> from panmatch.playground import Scene
    >>> write_short(State(Scene([Disc(300, 181, 40)], [Disc(0.1234, 0, 1)])))
    '1:n5c_dys_334:~0.1234_0_2s:'
    """
    view = _written_view(state.view)
    if state.scene is None:
        return f"{VERSION}:{view}"
    sides = (",".join(map(_written_shape, state.scene.shapes(side))) for side in SIDES)
    return ":".join((VERSION, *sides, view))


def read_short(text: str) -> State:
    """Return the state of a text, or raise a `LinkError`."""
    _, *sections = text.split(":")
    if len(sections) not in (1, 3):
        raise LinkError(
            f"{shown(text)} has {len(sections)} sections after its version; a link has a view, or "
            f"references, predictions and a view. It may have been cut off."
        )
    view = _read_view(sections[-1])
    scene = None
    if len(sections) == 3:
        sides = zip(SIDES, sections[:2], strict=True)
        scene = {side: _read_shapes(side, section) for side, section in sides}
    return State.from_dict({"format": 1, "scene": scene, "view": view})


def write_number(value: float) -> str:
    """Return a number as short text.

    Examples
    --------
    >>> write_number(300), write_number(-0.5), write_number(1 / 3), write_number(1e-7)
    ('n5c', '-1e', '~0.3333333333333333', '~1e-7')
    """
    if abs(value) < LARGEST / STEPS:  # multiples of numbers near the largest float overflow
        steps = math.floor(value * STEPS + 0.5)
        if steps / STEPS == value and abs(steps) < LARGEST:
            return ("-" if steps < 0 else "") + _base_36(abs(steps))
    return f"~{_decimal(value)}"


def read_number(text: str) -> float:
    """Return what `write_number` wrote, or raise a `LinkError`."""
    if text.startswith("~") and DECIMAL.fullmatch(text[1:]):
        return float(text[1:])
    if re.fullmatch(r"-?[0-9a-z]{1,8}", text):
        return int(text, 36) / STEPS
    raise LinkError(f"{shown(text)} is not a number of a link.")


def _base_36(number: int) -> str:
    text = DIGITS[number % 36]
    while number := number // 36:
        text = DIGITS[number % 36] + text
    return text


def _decimal(value: float) -> str:
    """Return the shortest digits of a number, as JavaScript writes them but for a plus sign."""
    if 1e-6 <= abs(value) < 1e21 or value == 0:
        text = format(Decimal(repr(float(value))), "f")
        return text.removesuffix(".0")
    mantissa, _, exponent = f"{Decimal(repr(float(value))).normalize():e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def _written_shape(shape: AnyShape) -> str:
    numbers: Sequence[float]
    if isinstance(shape, Disc):
        letter, numbers = "", (shape.x, shape.y, shape.r)
    elif isinstance(shape, Ellipse):
        letter, numbers = "E", (shape.x, shape.y, shape.rx, shape.ry, shape.angle)
    else:
        letter, numbers = "S", (shape.width, *(value for point in shape.points for value in point))
    parts = "P" + "_".join(map(write_number, shape.parts)) if shape.parts else ""
    confidence = "" if shape.confidence is None else f"C{write_number(shape.confidence)}"
    return letter + "_".join(map(write_number, numbers)) + parts + confidence


def _read_shapes(side: str, section: str) -> list[Message]:
    shapes = []
    for position, text in enumerate(section.split(",") if section else []):
        try:
            shapes.append(_read_shape(text))
        except LinkError as error:
            where = f"the {ordinal(position)} shape of {side}, {shown(text)}"
            raise LinkError(f"{where}: {error}") from error
    return shapes


def _read_shape(text: str) -> Message:
    letter = text[:1] if text[:1] in ("E", "S") else ""
    text, sure, confidence = text.removeprefix(letter).partition("C")
    own, nested, factors = text.partition("P")
    numbers = [read_number(number) for number in own.split("_")]
    more: Message = {
        "parts": [read_number(number) for number in factors.split("_")] if nested else [],
        **({"confidence": read_number(confidence)} if sure else {}),
    }
    keys = {"": ("x", "y", "r"), "E": ("x", "y", "rx", "ry", "angle"), "S": ("width",)}[letter]
    points = [numbers[at : at + 2] for at in range(1, len(numbers), 2)]
    if letter == "S" and len(numbers) % 2:
        return {"kind": "stroke", "width": numbers[0], "points": points, **more}
    if len(numbers) != len(keys):
        raise LinkError(f"it has {len(numbers)} numbers. It may have been cut off.")
    kind = "ellipse" if letter else "disc"
    return {"kind": kind, **dict(zip(keys, numbers, strict=True)), **more}


def _written_view(view: View) -> str:
    written = []
    for key, value in view.to_dict().items():
        if value == DEFAULTS.to_dict()[key]:
            continue
        if key in FLAGS:
            written.append(key)
        elif key in LISTS:
            written.append(f"{key}={'_'.join(value).replace('/', '.')}")
        elif isinstance(value, str):
            written.append(f"{key}={value.replace('/', '.')}")
        else:
            written.append(f"{key}={_decimal(value)}")
    return ",".join(written)


def _read_view(section: str) -> Message:
    view: Message = {}
    for setting in section.split(",") if section else []:
        key, equals, text = setting.partition("=")
        known = DEFAULTS.to_dict()
        if key not in known or bool(equals) == (key in FLAGS):
            raise LinkError(unknown(f"{shown(setting)} of the link's view", key, list(known)))
        view[key] = _read_setting(key, text)
    return view


def _read_setting(key: str, text: str) -> object:
    if key in FLAGS:
        return True
    if key in LISTS:
        return text.replace(".", "/").split("_") if text else []
    if key in NUMBERS or key in WHOLE:
        if not DECIMAL.fullmatch(text):
            raise LinkError(f"{key}={shown(text)} of the link is not a number.")
        return int(text) if key in WHOLE and text.isdigit() else float(text)
    return text.replace(".", "/")
