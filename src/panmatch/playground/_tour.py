"""The guided tour, from tour.yaml: eight scenes, each with a guess, and a goal to reach."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field, StrictBool, StrictStr

from panmatch.errors import OptionError
from panmatch.playground._states import Scene, State, StrategyName, View
from panmatch.playground._validation import Checked, Finite, Message, Whole, checked

FILE = Path(__file__).with_name("tour.yaml")
TOUR = "tour"  # the name of its first step in links
PREFIX = f"{TOUR}-"  # of the ids of all steps

Measure = Literal["pq", "sq", "rq", "tp", "fp", "fn", "iou", "threshold", "counted_twice"]
Place = Literal["scene", "threshold", "strategy", "regions", "parts", "headline"]
Figure = Literal["walk", "all_edges", "pieces"]


@checked
class Measured(Checked):
    """A number that an answer holds.

    Attributes
    ----------
    what
        A score or count of a strategy, the IoU of a pair, the threshold, or how many pixels
        many-to-many matching would count more than once.
    strategy
        Whose score; None for the strategy that is chosen.
    pair
        Ids of a reference and a prediction; their IoU is 0 if they do not overlap.
    """

    what: Measure
    strategy: StrategyName | None = None
    pair: tuple[Whole, Whole] | None = None

    def __post_init__(self) -> None:
        if (self.what == "iou") != (self.pair is not None):
            raise OptionError(f"what={self.what!r}: an IoU needs a pair, and nothing else has one.")


@checked
class Condition(Checked):
    """Two numbers, and how they should compare."""

    left: Measured
    relation: Literal["above", "below", "equal to"]
    right: Measured | Finite


@checked
class Goal(Checked):
    """What to try: a sentence, conditions that must all hold, and what to say once they do.

    The page shows the numbers of the conditions, and those to `watch` beside them.
    """

    text: StrictStr
    done: StrictStr
    conditions: Annotated[tuple[Condition, ...], Field(min_length=1, max_length=3)]
    watch: tuple[Measured, ...] = ()


@checked
class Reply(Checked):
    """One answer that may be given to a question, and what to say to it."""

    text: StrictStr
    says: StrictStr
    right: StrictBool = False


@checked
class Guess(Checked):
    """A question with two to four answers, of which one is right."""

    question: StrictStr
    answers: Annotated[tuple[Reply, ...], Field(min_length=2, max_length=4)]

    def __post_init__(self) -> None:
        if sum(answer.right for answer in self.answers) != 1:
            raise OptionError(f"{self.question!r} must have exactly one right answer.")


@checked
class TourStep(Checked):
    """A step: what it says and asks, the state it opens, and where to look.

    Attributes
    ----------
    highlight
        Controls of the page that the goal needs.
    touch
        Names of the objects to move, such as P1.
    figure
        A picture of its own in the card of the step.
    """

    id: Annotated[StrictStr, Field(pattern=rf"^{PREFIX}[a-z]+(-[a-z]+)*$")]
    title: StrictStr
    text: StrictStr
    guess: Guess
    goal: Goal
    state: State
    highlight: tuple[Place, ...] = ()
    touch: tuple[Annotated[StrictStr, Field(pattern="^[RP][1-9][0-9]*$")], ...] = ()
    figure: Figure | None = None


def _read_step(*, scene: object, view: Message, **about: object) -> TourStep:
    state = State(Scene.from_dict(scene), View.from_dict(view))
    return TourStep.from_dict({**about, "state": state})


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
STEPS = tuple(_read_step(**entry) for entry in yaml.load(FILE.read_bytes(), _LOADER))
STEP_STATES = {TOUR: STEPS[0].state, **{step.id: step.state for step in STEPS}}
