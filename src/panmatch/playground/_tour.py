"""The guided tour, from tour.yaml: eight scenes, each with a guess, and a goal to reach."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import yaml

from panmatch.errors import OptionError
from panmatch.playground._states import Scene, State, StrategyName, View
from panmatch.playground._validation import Checked, Finite, Message, Whole, checked

FILE = Path(__file__).with_name("tour.yaml")
TOUR = "tour"  # the name of its first step in links
ID = re.compile(rf"{TOUR}(-[a-z]+)+")
OBJECT = re.compile("[RP][1-9][0-9]*")

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
    """How a number should compare with another one, or with a fixed one."""

    left: Measured
    relation: Literal["above", "below", "equal to"]
    right: Measured | None = None
    number: Finite | None = None

    def __post_init__(self) -> None:
        if (self.right is None) == (self.number is None):
            raise OptionError("a condition needs either right or number.")


@checked
class Goal(Checked):
    """What to try: a sentence, conditions that must all hold, and what to say once they do.

    The page shows the numbers of the conditions, and those to `watch` beside them.
    """

    text: str
    done: str
    conditions: tuple[Condition, ...]
    watch: tuple[Measured, ...] = ()

    def __post_init__(self) -> None:
        if not self.conditions:
            raise OptionError(f"{self.text!r} must have a condition.")


@checked
class Reply(Checked):
    """One answer that may be given to a question, and what to say to it."""

    text: str
    says: str
    right: bool = False


@checked
class Guess(Checked):
    """A question with two to four answers, of which one is right."""

    question: str
    answers: tuple[Reply, ...]

    def __post_init__(self) -> None:
        if not 2 <= len(self.answers) <= 4 or sum(answer.right for answer in self.answers) != 1:
            raise OptionError(
                f"{self.question!r} must have two to four answers, of which one is right."
            )


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

    id: str
    title: str
    text: str
    guess: Guess
    goal: Goal
    state: State
    highlight: tuple[Place, ...] = ()
    touch: tuple[str, ...] = ()
    figure: Figure | None = None

    def __post_init__(self) -> None:
        if not ID.fullmatch(self.id):
            raise OptionError(f"id={self.id!r} must be such as 'tour-fragments'.")
        if not all(OBJECT.fullmatch(name) for name in self.touch):
            raise OptionError(f"touch={self.touch!r} must be names such as 'P1'.")


def _read_step(*, scene: object, view: Message, **about: object) -> TourStep:
    state = State(Scene.from_dict(scene), View.from_dict(view))
    return TourStep.from_dict({**about, "state": state})


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
STEPS = tuple(_read_step(**entry) for entry in yaml.load(FILE.read_bytes(), _LOADER))
STEP_STATES = {TOUR: STEPS[0].state, **{step.id: step.state for step in STEPS}}
