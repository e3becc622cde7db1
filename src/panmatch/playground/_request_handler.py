"""Answers to one page: a message in, a message out."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import panmatch
from panmatch.errors import OptionError, PanmatchError, check_choice
from panmatch.playground._answers import answer_numbers, answer_object
from panmatch.playground._cut_rows import below_the_cut, confidence_row
from panmatch.playground._cuts import source_at
from panmatch.playground._export import answer_code
from panmatch.playground._links import read_link
from panmatch.playground._presets import PRESETS
from panmatch.playground._score_rows import loss_looks, overlap_metric_rows, pending_rows
from panmatch.playground._shapes import MOST_STROKE_POINTS
from panmatch.playground._short_links import HOSTED
from panmatch.playground._sources import DrawnScene, Source
from panmatch.playground._states import (
    MOST_SCENE_POINTS,
    MOST_SHAPES,
    STRATEGIES,
    Side,
    State,
    View,
)
from panmatch.playground._story import Story, answer_story
from panmatch.playground._tour import STEPS
from panmatch.playground._validation import Checked, Message, Whole, checked, read_json, shown

NEEDS_FILES = (
    "the scene is null: this link belongs to a pair of files, but no files are open here. Open "
    "them on the page, or run `panmatch play REF PRED`."
)

LONGEST_SIDE = 2_000  # pixels of a tile, unless fewer are asked for

if TYPE_CHECKING:  # what reads files is imported where files are read
    from panmatch.playground._dropped_files import DropFolder, NamedBytes, Role
    from panmatch.playground._file_pair import FilePair

R = TypeVar("R", bound=Checked)

log = logging.getLogger(__name__)


@checked
class Hello(Checked):
    """A request for everything that does not depend on the state."""


@checked
class LinkRequest(Checked):
    """A request for the state that a link carries."""

    link: str


@checked
class NumbersRequest(Checked):
    """A request for the numbers of a state; they come sooner without budget and story."""

    state: State
    budget: bool = True
    story: Story | None = None


@checked
class CodeRequest(Checked):
    """A request for the code of a state."""

    state: State


@checked
class SliceRequest(Checked):
    """A request for a slice of a pair of files, or a tile of it; see `answer_slice`."""

    axis: Whole
    index: Whole | None = None
    window: tuple[Whole, Whole, Whole, Whole] | None = None
    pixels: Whole = LONGEST_SIDE


@checked
class OpenRequest(Checked):
    """A request to open files that were sent before, by the keys that were given to them."""

    reference: str
    prediction: str
    image: str | None = None
    scores: str | None = None
    allow_header_mismatch: bool = False


@checked
class CloseRequest(Checked):
    """A request to close the files, and to go on with scenes."""


@checked
class ObjectRequest(Checked):
    """A request for one segment and its partners."""

    side: Side
    id: Whole
    state: State


class RequestHandler:
    """Answers one page; calls may come from several threads.

    Parameters
    ----------
    pair
        The files that are open at the start, if any; all pages share them.
    drops
        Where files that the page sends are kept until it opens them; None if it cannot send any.
    """

    def __init__(self, pair: FilePair | None = None, drops: DropFolder | None = None) -> None:
        self._pair = pair
        self._drops = drops
        self._drawn: DrawnScene | None = None
        self._above: tuple[Source, Source, float] | None = None  # the last one, of what, at a cut
        # What may be asked for: how the answer is called, and what answers.
        self._kinds: Mapping[str, tuple[str, Callable[[Message], Message]]] = {
            "hello": ("hello", _reading(Hello, self._hello)),
            "link": ("state", _reading(LinkRequest, self._link)),
            "numbers": ("numbers", _reading(NumbersRequest, self._numbers)),
            "open": ("opened", _reading(OpenRequest, self._open)),
            "close": ("closed", _reading(CloseRequest, self._close)),
            "slice": ("slice", _reading(SliceRequest, self._slice)),
            "object": ("object", _reading(ObjectRequest, self._object)),
            "code": ("code", _reading(CodeRequest, self._code)),
        }

    def answer(self, asked: Message) -> str:
        """Return the answer to a message as JSON text; an error is an answer, too."""
        kind, seq = asked.get("ask"), _seq(asked)

        def compute() -> Message:
            check_choice("ask", kind, self._kinds)
            name, answer = self._kinds[str(kind)]
            return {"is": name, **answer(_content(asked))}

        return self._answered(kind, seq, compute)

    def open_bytes(
        self,
        files: Mapping[Role, NamedBytes],
        *,
        allow_header_mismatch: bool = False,
        seq: int | None = None,
    ) -> str:
        """Open files that are in memory; return the answer to ``"open"`` as JSON text."""
        from panmatch.playground._dropped_files import open_bytes

        def compute() -> Message:
            self._pair = open_bytes(files, allow_header_mismatch=allow_header_mismatch)
            return {"is": "opened", **self._described()}

        return self._answered("open", seq, compute)

    def _answered(self, kind: object, seq: int | None, compute: Callable[[], Message]) -> str:
        try:
            return _text({"seq": seq, **compute()})
        except PanmatchError as error:
            return problem(kind, seq, str(error), **getattr(error, "details", {}))
        except Exception as error:
            log.exception("no answer to %r", kind)
            return problem(kind, seq, f"this is a bug in panmatch: {type(error).__name__}: {error}")

    def related(self, asked: Message) -> Iterator[str]:
        """Yield other metrics for a message that asked for numbers, the slow ones last."""
        try:
            state, seq = NumbersRequest.from_dict(_content(asked)).state, _seq(asked)
            source, view = self._source(state), state.view
            whole = View(areas=view.areas, threshold=view.threshold)
            rows = overlap_metric_rows(source.counted(whole).overlap, view.threshold)
            if self._pair is not None and not source.has_image_metrics:
                yield _text({"is": "related", "seq": seq, "rows": rows + pending_rows()})
            rows += source.image_metrics()
            yield _text({"is": "related", "seq": seq, "rows": rows})
        except PanmatchError:
            return  # the answer to the message has said what is wrong
        except Exception:
            log.exception("no related metrics")

    def answer_text(self, text: str) -> str:
        """Return the answer to a message, for pages that run this themselves."""
        try:
            return self.answer(read_message(text))
        except PanmatchError as error:
            return problem(None, None, str(error))

    def related_text(self, text: str) -> str | None:
        """Return other metrics for such a message; None if it was refused."""
        return next(self.related(read_message(text)), None)

    def _hello(self, _: Hello) -> Message:
        return {
            "version": panmatch.__version__,
            "strategies": [
                {
                    "id": key,
                    "family": strategy.name,
                    "label": strategy.label,
                    "about": strategy.about,
                    "needs_regions": strategy.needs_regions,
                    "needs_parts": strategy.quality == "parts",
                    "takes_repairs": strategy.takes_repairs,
                    "hue": strategy.hue,
                    "dash": strategy.dash,
                }
                for key, strategy in STRATEGIES.items()
            ],
            "losses": loss_looks(),
            "presets": [preset.to_dict() for preset in PRESETS],
            "tour": [step.to_dict() for step in STEPS],
            "links": {"hosted": HOSTED, "defaults": View().to_dict()},
            "limits": {
                "shapes": MOST_SHAPES,
                "stroke_points": MOST_STROKE_POINTS,
                "scene_points": MOST_SCENE_POINTS,
            },
            **self._described(),
        }

    def _described(self) -> Message:
        return {"pair": None if self._pair is None else self._pair.describe()}

    def _open(self, request: OpenRequest) -> Message:
        from panmatch.playground._dropped_files import open_dropped

        if self._drops is None:
            raise OptionError("this page cannot send files to a server.")
        keys: dict[Role, str] = {
            "reference": request.reference,
            "prediction": request.prediction,
        }
        if request.image is not None:
            keys["image"] = request.image
        if request.scores is not None:
            keys["scores"] = request.scores
        with self._drops.take(keys) as files:
            self._pair = open_dropped(files, allow_header_mismatch=request.allow_header_mismatch)
        return self._described()

    def _close(self, _: CloseRequest) -> Message:
        self._pair = None
        return self._described()

    def _link(self, request: LinkRequest) -> Message:
        if self._pair is not None:
            state, notes = _of_pair(request.link, self._pair)
        else:
            state, notes = read_link(request.link)
            if state.scene is None:
                raise OptionError(NEEDS_FILES)
        return {"state": state.to_dict(), "notes": notes}

    def _numbers(self, request: NumbersRequest) -> Message:
        began = time.perf_counter()
        source = self._source(request.state)
        numbers = answer_numbers(source, request.state.view, request.budget)
        numbers["confidence"] = confidence_row(source, request.state.view)
        if request.story is not None:
            numbers["story"] = answer_story(source, request.state.view, request.story)
        return {"milliseconds": round(1e3 * (time.perf_counter() - began), 3), **numbers}

    def _slice(self, request: SliceRequest) -> Message:
        if self._pair is None:
            raise OptionError("slices need a pair of files, but none is open here.")
        from panmatch.playground._slices import answer_slice

        return answer_slice(self._pair, request.axis, request.index, request.window, request.pixels)

    def _object(self, request: ObjectRequest) -> Message:
        source, asked = self._source(request.state), (request.state.view, request.side, request.id)
        return below_the_cut(source, *asked) or answer_object(source, *asked)

    def _code(self, request: CodeRequest) -> Message:
        self._source(request.state)
        return answer_code(request.state, self._pair)

    def _source(self, state: State) -> Source:
        """Return what a state is about, without what is below its cut."""
        whole, cut = self._whole(state), state.view.cut
        if cut is None:
            return whole
        if self._above is None or self._above[1:] != (whole, cut):
            self._above = source_at(whole, state.view), whole, cut
        return self._above[0]

    def _whole(self, state: State) -> Source:
        """Return what a state is about; the scene drawn last is kept."""
        if self._pair is not None:
            if state.scene is not None:
                raise OptionError("a pair of files is open, so the scene must be null.")
            return self._pair
        if state.scene is None:
            raise OptionError(NEEDS_FILES)
        drawn = self._drawn
        if drawn is None or drawn.scene != state.scene:
            drawn = self._drawn = DrawnScene(state.scene, drawn)
        return drawn


def _reading(request: type[R], compute: Callable[[R], Message]) -> Callable[[Message], Message]:
    """Return what reads the content of a message as a request, and answers it."""
    return lambda content: compute(request.from_dict(content))


def read_message(text: str) -> Message:
    """Return the message that a page sent, or raise an `OptionError`."""
    asked = read_json(text)
    if not isinstance(asked, dict):
        raise OptionError(f"a message must be a JSON object, not {shown(asked)}.")
    return asked


def problem(kind: object, seq: int | None, text: str, **more: object) -> str:
    """Return the message that says what is wrong; `kind` is what was asked for."""
    about = kind if isinstance(kind, str) else None
    return _text({"is": "problem", "seq": seq, "about": about, "problem": text, **more})


def _text(message: Message) -> str:
    return json.dumps(message, allow_nan=False, separators=(",", ":"))


def _seq(asked: Message) -> int | None:
    seq = asked.get("seq")
    return seq if isinstance(seq, int) and not isinstance(seq, bool) else None


def _content(asked: Message) -> Message:
    return {key: value for key, value in asked.items() if key not in ("ask", "seq")}


def _of_pair(link: str, pair: FilePair) -> tuple[State, list[str]]:
    """Return the view of a link for a pair, with the slice that the pair has.

    Without a link, a volume is shown where a slice cuts most objects.
    """
    notes: list[str] = []
    view = View()
    if not link and len(pair.shape) == 3:
        axis, position = pair.busiest_slice()
        view = View(axis=axis, slice=position)
    if link:
        state, notes = read_link(link)
        view = state.view
        if state.scene is not None:
            notes = [*notes, "The scene of the link is ignored, because a pair of files is open."]
    axis = min(view.axis, len(pair.shape) - 1)
    known = len(pair.shape) == 3 and view.slice is not None and view.slice < pair.shape[axis]
    return State(None, replace(view, axis=axis, slice=view.slice if known else None)), notes
