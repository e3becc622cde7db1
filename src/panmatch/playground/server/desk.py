"""Answers to one page: a message in, a message out."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import panmatch
from panmatch.errors import OptionError, PanmatchError, check_choice
from panmatch.playground.checks import as_mapping, shown
from panmatch.playground.copying.code import answer_code
from panmatch.playground.drawing.canvas import MOST_SCENE_POINTS, MOST_SHAPES, MOST_STROKE_POINTS
from panmatch.playground.drawing.scene import SIDES
from panmatch.playground.numbers.answers import answer_numbers, answer_object
from panmatch.playground.numbers.counted import Source
from panmatch.playground.numbers.drawn import DrawnScene
from panmatch.playground.numbers.pair import Pair
from panmatch.playground.numbers.related_rows import compute_overlap_rows, pending_rows
from panmatch.playground.numbers.slices import answer_slice
from panmatch.playground.plain import Message
from panmatch.playground.states.links import read_link
from panmatch.playground.states.presets import PRESETS
from panmatch.playground.states.state import State
from panmatch.playground.states.strategies import STRATEGIES
from panmatch.playground.states.strict_json import read_json
from panmatch.playground.states.view import View

NEEDS_FILES = (
    "the scene is null: this is the state of a pair of files, and none is open here. Start "
    "`panmatch play REF PRED`."
)

log = logging.getLogger(__name__)


class Desk:
    """Answers one page; calls may come from several threads.

    Parameters
    ----------
    pair
        The files that are open, if any; all pages share them.
    """

    def __init__(self, pair: Pair | None = None) -> None:
        self._pair = pair
        self._drawn: DrawnScene | None = None
        self._answers: Mapping[str, tuple[str, Callable[[Message], Message]]] = {
            "hello": ("hello", self._hello),
            "link": ("state", self._link),
            "numbers": ("numbers", self._numbers),
            "slice": ("slice", self._slice),
            "object": ("object", self._object),
            "code": ("code", self._code),
        }

    def answer(self, asked: Message) -> str:
        """Return the answer to a message as JSON text; whatever goes wrong is one, too."""
        kind, seq = asked.get("ask"), _seq(asked)
        try:
            check_choice("ask", kind, self._answers)
            name, compute = self._answers[str(kind)]
            return _text({"is": name, "seq": seq, **compute(asked)})
        except PanmatchError as error:
            return problem(kind, seq, str(error))
        except Exception as error:
            log.exception("no answer to %r", kind)
            return problem(kind, seq, f"this is a bug in panmatch: {type(error).__name__}: {error}")

    def related(self, asked: Message) -> Iterator[str]:
        """Yield other metrics for a message that asked for numbers, the slow ones last."""
        try:
            state, seq = State.from_dict(asked["state"]), _seq(asked)
            source, view = self._source(state), state.view
            whole = View(areas=view.areas, threshold=view.threshold)
            rows = compute_overlap_rows(source.counted(whole).overlap, view.threshold)
            if self._pair is not None and not source.knows_voxel_rows:
                yield _text({"is": "related", "seq": seq, "rows": rows + pending_rows()})
            rows += source.voxel_rows()
            yield _text({"is": "related", "seq": seq, "rows": rows})
        except PanmatchError:
            return  # the answer to the message has said what is wrong
        except Exception:
            log.exception("no related metrics")

    def _hello(self, asked: Message) -> Message:
        del asked
        strategies = [
            {"id": name, "label": one.label, "about": one.about, "only_regions": one.only_regions}
            for name, one in STRATEGIES.items()
        ]
        presets = [
            {"id": one.id, "title": one.title, "about": one.about, "state": one.state.to_dict()}
            for one in PRESETS
        ]
        return {
            "version": panmatch.__version__,
            "strategies": strategies,
            "presets": presets,
            "limits": {
                "shapes": MOST_SHAPES,
                "stroke_points": MOST_STROKE_POINTS,
                "scene_points": MOST_SCENE_POINTS,
            },
            "pair": None if self._pair is None else self._pair.describe(),
        }

    def _link(self, asked: Message) -> Message:
        link = asked.get("link")
        if not isinstance(link, str):
            raise OptionError(f"link={shown(link)} is no text.")
        if self._pair is not None:
            state, notes = _of_pair(link, self._pair)
        else:
            state, notes = read_link(link)
            if state.scene is None:
                raise OptionError(NEEDS_FILES)
        return {"state": state.to_dict(), "notes": notes}

    def _numbers(self, asked: Message) -> Message:
        began = time.perf_counter()
        state = _state(asked)
        found = answer_numbers(self._source(state), state.view)
        return {"milliseconds": round(1e3 * (time.perf_counter() - began), 3), **found}

    def _slice(self, asked: Message) -> Message:
        if self._pair is None:
            raise OptionError("slices are those of a pair of files, and none is open here.")
        axis, index = _whole(asked, "axis"), asked.get("index")
        return answer_slice(self._pair, axis, None if index is None else _whole(asked, "index"))

    def _object(self, asked: Message) -> Message:
        side = asked.get("side")
        check_choice("side", side, SIDES)
        state = _state(asked)
        return answer_object(self._source(state), state.view, side, _whole(asked, "id"))  # type: ignore[arg-type]

    def _code(self, asked: Message) -> Message:
        state = _state(asked)
        self._source(state)
        return answer_code(state, self._pair)

    def _source(self, state: State) -> Source:
        """Return what a state is about; the scene drawn last is kept."""
        if self._pair is not None:
            if state.scene is not None:
                raise OptionError("a pair of files is open, so that the scene must be null.")
            return self._pair
        if state.scene is None:
            raise OptionError(NEEDS_FILES)
        drawn = self._drawn
        if drawn is None or drawn.scene != state.scene:
            drawn = self._drawn = DrawnScene(state.scene, drawn)
        return drawn


def read_message(text: str) -> Message:
    """Return the message that a page sent, or raise an `OptionError`."""
    asked = read_json(text)
    if not isinstance(asked, dict):
        raise OptionError(f"a message must be a JSON object, not {shown(asked)}.")
    return asked


def problem(kind: object, seq: int | None, text: str) -> str:
    """Return the message that says what is wrong; `kind` is what was asked for."""
    about = kind if isinstance(kind, str) else None
    return _text({"is": "problem", "seq": seq, "about": about, "problem": text})


def _text(message: Message) -> str:
    return json.dumps(message, allow_nan=False, separators=(",", ":"))


def _seq(asked: Message) -> int | None:
    seq = asked.get("seq")
    return seq if isinstance(seq, int) and not isinstance(seq, bool) else None


def _state(asked: Message) -> State:
    return State.from_dict(as_mapping("state", asked.get("state")))


def _whole(asked: Message, key: str) -> int:
    value = asked.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise OptionError(f"{key}={shown(value)} is no whole number.")
    return value


def _of_pair(link: str, pair: Pair) -> tuple[State, list[str]]:
    """Return the view of a link for a pair, with the slice that the pair has.

    Without a link, volumes are shown along the axis with the fewest slices: these are largest.
    """
    notes: list[str] = []
    view = View(axis=pair.shape.index(min(pair.shape)))
    if link:
        state, notes = read_link(link)
        view = state.view
        if state.scene is not None:
            notes = [*notes, "The scene of the link is left out: a pair of files is open."]
    axis = min(view.axis, len(pair.shape) - 1)
    known = len(pair.shape) == 3 and view.slice is not None and view.slice < pair.shape[axis]
    return State(None, replace(view, axis=axis, slice=view.slice if known else None)), notes
