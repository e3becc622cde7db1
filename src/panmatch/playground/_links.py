"""Links to the playground: read our format and the published one, write ours."""

from __future__ import annotations

import re
from urllib.parse import unquote

from panmatch.errors import LinkError, PanmatchError
from panmatch.playground._presets import BY_ID, START
from panmatch.playground._published_links import read_published
from panmatch.playground._short_links import HOSTED, read_short, write_short
from panmatch.playground._states import State
from panmatch.playground._tour import STEP_STATES
from panmatch.playground._validation import read_json, shown, unknown

LONGEST = 2_000_000  # bytes
NAME = re.compile(r"[a-z]+(-[a-z]+)*")  # of a preset or a step of the tour
NAMED = {**{name: preset.state for name, preset in BY_ID.items()}, **STEP_STATES}


def read_link(link: str) -> tuple[State, list[str]]:
    """Return the state that a link carries, and notes on how it was read.

    Parameters
    ----------
    link
        "#" and what `write_link` wrote, or the state as percent-encoded JSON, or the id of a
        preset or of a step of the tour; or "?" and the published format, see `read_published`; or a
        whole URL with either,
        whose scheme and host are ignored. An empty link, or a URL with neither, means the start
        state.

    Raises
    ------
    LinkError
        Saying what is wrong with the link, and what is accepted.

    Examples
    --------
    >>> state, notes = read_link("?refs=0.3,0.5,0.1&preds=0.3,0.5,0.1")
    >>> state.view.strategy
    'one-to-one/greedy'
    >>> read_link("#split-lesion")[0].view.strategy
    'many-to-one/merge/seed'
    """
    if len(link.encode(errors="surrogatepass")) > LONGEST:
        raise LinkError(f"the link is longer than the maximum of {LONGEST:,} bytes.")
    address, _, fragment = link.strip().partition("#")
    address, _, query = address.partition("?")
    if query and fragment:
        raise LinkError(
            "the link has both a query (?…) and a fragment (#…), and each describes a scene: "
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


def write_link(state: State, *, hosted: bool = False) -> str:
    """Return the link that carries a state, with all digits of its numbers.

    Parameters
    ----------
    state
        What to show.
    hosted
        Whether to return a whole URL, which opens in any browser, without panmatch. Otherwise the
        link begins with "#": ``panmatch play --link`` and `read_link` take both.

    Examples
    --------
    >>> from panmatch.playground import Disc, Scene
    >>> state = State(Scene([Disc(300, 181, 40)], [Disc(310, 181, 40)]))
    >>> write_link(state)
    '#1:n5c_dys_334:nx4_dys_334:'
    >>> read_link(write_link(state, hosted=True))[0] == state
    True
    """
    return f"{HOSTED if hosted else ''}#{write_short(state)}"


def page_link(link: str) -> str:
    """Return the link with which the page opens: a step of the tour keeps its name.

    Examples
    --------
    >>> page_link("http://127.0.0.1:8000/#tour-fragments")
    '#tour-fragments'
    """
    name = link.strip().partition("#")[2]
    return f"#{name}" if name in STEP_STATES else write_link(read_link(link)[0])


def _read_state(fragment: str) -> State:
    try:
        text = unquote(fragment, errors="strict")
    except UnicodeDecodeError as error:
        raise LinkError("the link's fragment is not percent-encoded text (UTF-8).") from error
    if NAME.fullmatch(text):
        if text not in NAMED:
            raise LinkError(unknown(f"the scene {shown(text)} of the link", text, list(NAMED)))
        return NAMED[text]
    if re.match(r"[0-9]+:", text):
        if not text.startswith("1:"):
            version = text.partition(":")[0]
            raise LinkError(
                f"the link is of format {version}, and this version of panmatch reads format 1. "
                f"Update panmatch to open it."
            )
        return read_short(text)
    return State.from_dict(read_json(text))
