"""Links to the playground: read both grammars, write ours."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from urllib.parse import quote, unquote, unquote_plus

from panmatch.errors import LinkError, PanmatchError
from panmatch.playground._exact_areas import disc_table, overlapping_discs
from panmatch.playground._presets import START
from panmatch.playground._scene import Scene
from panmatch.playground._shapes import Disc
from panmatch.playground._spans import HEIGHT, WIDTH
from panmatch.playground._states import COMPARED, Quantity, State, View
from panmatch.playground._validation import ordinal, read_json, shown, unknown

LONGEST = 2_000_000  # bytes


def read_link(link: str) -> tuple[State, list[str]]:
    """Return the state that a link carries, and notes on how it was read.

    Parameters
    ----------
    link
        "#" and the state as percent-encoded JSON; or "?" and the published grammar, see
        `read_published`; or a whole URL with either, of which scheme and host are ignored. An
        empty link, or a URL with neither, means the start state.

    Raises
    ------
    LinkError
        That says what in the link is wrong, and what is accepted.

    Examples
    --------
    >>> state, notes = read_link("?refs=0.3,0.5,0.1&preds=0.3,0.5,0.1")
    >>> state.view.strategy
    'one-to-one/greedy'
    """
    if len(link.encode(errors="surrogatepass")) > LONGEST:
        raise LinkError(f"the link is longer than {LONGEST:,} bytes, the most that is accepted.")
    address, _, fragment = link.strip().partition("#")
    address, _, query = address.partition("?")
    if query and fragment:
        raise LinkError(
            "the link has both a query (?…) and a fragment (#…), and each would be a scene: "
            "remove one."
        )
    if not query and not fragment:
        if address and "://" not in address:
            raise LinkError(
                f"{shown(address)} is not a link: it has neither '?refs=…&preds=…' nor '#' and a "
                "state."
            )
        return START, []
    try:
        return read_published(query) if query else (_read_state(fragment), [])
    except LinkError:
        raise
    except PanmatchError as error:
        raise LinkError(str(error)) from error


def write_link(state: State) -> str:
    """Return the link that carries a state, with all digits of its numbers.

    Examples
    --------
    >>> write_link(State(None))[:25]
    '#%7B%22scene%22:null,%22v'
    >>> read_link(write_link(State(None)))[0] == State(None)
    True
    """
    text = json.dumps(state.to_dict(), separators=(",", ":"), allow_nan=False)
    return "#" + quote(text, safe=",:")


def _read_state(fragment: str) -> State:
    try:
        text = unquote(fragment, errors="strict")
    except UnicodeDecodeError as error:
        raise LinkError("the link's fragment is not percent-encoded text (UTF-8).") from error
    return State.from_dict(read_json(text))


MATCHERS: Mapping[str, str] = {
    "greedy": "one-to-one/greedy",
    "hungarian": "one-to-one/optimal",
    "maximize-merge": "many-to-one/merge/seed",
}
CURVES: Mapping[str, Quantity] = {"autc": "pq", "asq": "sq", "arq": "rq", "sap": "ap"}
# What a key may say, the published default first.
CHOICES: Mapping[str, tuple[str, ...]] = {
    "matcher": tuple(MATCHERS),
    "mode": ("scene", "discrete"),
    "sap": ("0", "1"),
    "autc": ("1", "0"),
    "asq": ("0", "1"),
    "arq": ("0", "1"),
}
DISCS = ("refs", "preds")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def read_published(query: str) -> tuple[State, list[str]]:
    """Return the state that a published link means, and what there is to know about it.

    Parameters
    ----------
    query
        What follows the question mark: refs and preds as "x,y,r;x,y,r", x and r relative to the
        width of the canvas, y to its height; matcher, mode, sap, autc, asq and arq may be left out.

    Raises
    ------
    LinkError
        That names the key, the value, the position of the disc and what is accepted.

    Examples
    --------
    >>> state, notes = read_published("refs=0.5,0.5,0.1&preds=&matcher=hungarian")
    >>> state.scene
    Scene(reference=(Disc(x=300.0, y=181.0, r=60.0, parts=()),), prediction=())
    >>> notes
    ['matcher=hungarian is one-to-one/optimal here.']
    """
    fields = _fields(query)
    chosen = {key: fields.get(key, accepted[0]) for key, accepted in CHOICES.items()}
    for key, value in chosen.items():
        if value not in CHOICES[key]:
            raise LinkError(unknown(f"{key}={shown(value)}", value, sorted(CHOICES[key])))
    strategy = MATCHERS[chosen["matcher"]]
    view = View(
        strategy=strategy,
        compared=(strategy, *(other for other in COMPARED if other != strategy)),
        curves=tuple(curve for key, curve in CURVES.items() if chosen[key] == "1"),
        grid=chosen["mode"] == "discrete",
    )
    scene = Scene(_discs("refs", fields["refs"]), _discs("preds", fields["preds"]))
    notes = [f"matcher={chosen['matcher']} is {strategy} here."]
    notes += [
        f"Discs of {key} overlap: a later one covers an earlier one."
        for key, shapes in zip(DISCS, (scene.reference, scene.prediction), strict=True)
        if overlapping_discs(disc_table(shapes)) is not None
    ]
    return State(scene, view), notes


def _fields(query: str) -> dict[str, str]:
    accepted = (*DISCS, *CHOICES)
    fields: dict[str, str] = {}
    for field in query.split("&"):
        key, equals, value = (unquote_plus(text) for text in field.partition("="))
        if not equals:
            raise LinkError(f"{shown(field)} in the link is not key=value.")
        if key not in accepted:
            raise LinkError(unknown(f"the key {shown(key)} of the link", key, accepted))
        if key in fields:
            raise LinkError(f"the link gives {key} twice.")
        fields[key] = value
    for key in DISCS:
        if key not in fields:
            raise LinkError(f"the link has no {key}. Give discs, or {key}= for none.")
    return fields


def _discs(key: str, value: str) -> tuple[Disc, ...]:
    triples = value.split(";") if value else []
    return tuple(_disc(key, position, triple) for position, triple in enumerate(triples))


def _disc(key: str, position: int, triple: str) -> Disc:
    where = f"the {ordinal(position)} disc of {key}, {shown(triple)}"
    numbers = triple.split(",")
    if len(numbers) != 3 or not all(NUMBER.fullmatch(number) for number in numbers):
        raise LinkError(f"{where}, must be three numbers x,y,r.")
    x, y, r = map(float, numbers)
    try:
        return Disc(x * WIDTH, y * HEIGHT, r * WIDTH)
    except PanmatchError as error:
        raise LinkError(f"{where}: {error}") from error
