"""The format of the links that were published with the figures: discs in the query of a URL."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import unquote_plus

from panmatch.errors import LinkError, PanmatchError
from panmatch.playground._exact_areas import disc_table, has_exact_areas, overlapping_discs
from panmatch.playground._shapes import Disc
from panmatch.playground._spans import HEIGHT, WIDTH
from panmatch.playground._states import COMPARED, Quantity, Scene, State, View
from panmatch.playground._validation import ordinal, shown, unknown

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
    """Return the state that a published link describes, and notes on it.

    Parameters
    ----------
    query
        What follows the question mark: refs and preds as "x,y,r;x,y,r", x and r relative to the
        width of the canvas, y to its height; matcher, mode, sap, autc, asq and arq may be left out.

    Raises
    ------
    LinkError
        Naming the key, the value, the position of the disc and what is accepted.

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
    if has_exact_areas(scene):
        view = replace(view, areas="analytic")
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
