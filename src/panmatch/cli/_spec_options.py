"""Strategies, thresholds, metrics and classes on the command line, instead of in a YAML file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import get_args

from panmatch.cli._layout import wrapped
from panmatch.errors import Argument, OptionError, check_choice
from panmatch.labels import REGION_RULES
from panmatch.matching import STRATEGIES, Matcher
from panmatch.overlap import Score
from panmatch.related import RELATED
from panmatch.scoring import all_metrics
from panmatch.spec import ClassSpec, Spec, as_spec, label_numbers, parse_matcher, preset_text

Content = dict[str, object]

INDENT = 19  # of the description of a preset
BACKGROUND = "background"
CLASS_WORDS = {
    "ids": "instances",
    "components": "instances",
    "label-components": "instances",
    "things": "kind",
    "stuff": "kind",
    "full": "connectivity",
    "faces": "connectivity",
}


def change_spec(
    spec: Spec,
    strategies: Sequence[str] = (),
    thresholds: Sequence[str] = (),
    metrics: Sequence[str] = (),
    classes: Sequence[str] = (),
    whole: Sequence[str] = (),
    related: Sequence[str] = (),
) -> Spec:
    """Return a spec with the command line's choices instead of its own.

    Examples
    --------
    >>> change_spec(as_spec("cells"), ["one-to-one/greedy"], ["0.5,0.7"]).thresholds
    (0.5, 0.7)
    """
    content: Content = spec.model_dump(mode="json")
    if strategies:
        content["matching"] = [read_strategy(text) for text in _listed(strategies)]
    if thresholds:
        content["thresholds"] = [_read_threshold(text) for text in _listed(thresholds)]
    if metrics:
        names = list(_listed(metrics))
        for name in names:
            check_choice(Argument("metrics", flag="--metric"), name, all_metrics())
        content["metrics"] = names
    if whole:
        names = list(_listed(whole))
        for name in names:
            check_choice(Argument("whole", flag="--whole"), name, all_metrics())
        content["whole"] = names
    if related:
        content["related"] = [read_related(text) for text in _listed(related)]
    if classes:
        content |= _chosen_classes(spec, classes)
    return as_spec(content)


def read_strategy(text: str) -> Matcher:
    """Return the matcher for a strategy's name and options, joined by slashes in any order.

    Examples
    --------
    >>> read_strategy("many-to-one/edge/regions/dice").label
    'many-to-one (merge, edge, by dice) in regions'
    >>> read_strategy("one-to-one/inclusive").label
    'one-to-one (optimal, ≥ τ)'
    """
    name, *words = text.split("/")
    given: Content = {"strategy": name}
    family = STRATEGIES.get(name)
    choices = {} if family is None else family.choices()
    meanings = {word: option for option, values in choices.items() for word in values}
    meanings |= dict.fromkeys(get_args(Score), "score")
    meanings |= dict.fromkeys(("regions", *REGION_RULES), "regions")
    meanings["inclusive"] = "strict"
    try:
        if family is None:
            parse_matcher(given)
        for word in words:
            check_choice(f"option of {name}", word, meanings)
            if meanings[word] in given:
                raise ValueError(f"{meanings[word]} is given twice.")
            given[meanings[word]] = {"regions": True, "inclusive": False}.get(word, word)
        return parse_matcher(given)
    except ValueError as error:
        raise OptionError(f"--strategy {text!r} cannot be used: {error}") from error


def read_related(text: str) -> Content:
    """Return a related score and its options, as they are written in a spec.

    Examples
    --------
    >>> read_related("lesionwise_dice/dilation=3")
    {'score': 'lesionwise_dice', 'dilation': 3}
    """
    name, *words = text.split("/")
    check_choice(Argument("related", flag="--related"), name, RELATED)
    known = RELATED[name].options
    given: Content = {"score": name}
    for word in words:
        option, _, value = word.partition("=")
        check_choice(f"option of {name}", option, ["name", *known])
        try:
            given[option] = type(known.get(option, ""))(value)
        except ValueError as error:
            raise OptionError(
                f"--related {text!r}: {option} must be like {known[option]!r}."
            ) from error
    return given


def _read_threshold(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise OptionError(f"--threshold {text!r} must be a number in [0, 1), such as 0.5.")
    return value


def _chosen_classes(spec: Spec, given: Sequence[str]) -> Content:
    """Return the classes to evaluate; labels of the others become background."""
    if spec.encoding in ("coco", "coco-instances"):
        raise OptionError("--class: the classes of COCO files come from the JSON file; drop it.")
    chosen: dict[str, ClassSpec] = {}
    others = spec.background == "others" or f"{BACKGROUND}=others" in given
    ignored: list[int | str] = [] if spec.background == "others" else list(spec.background)
    for text in given:
        name, equals, rest = text.partition("=")
        if name == BACKGROUND:
            ignored += [] if rest == "others" else _read_labels(text, rest)
            continue
        if name in chosen:
            raise OptionError(f"--class: the name {name!r} is given twice.")
        if not equals:
            check_choice(Argument("class", flag="--class"), name, spec.classes)
        chosen[name] = _read_class(text, rest) if equals else spec.classes[name]
    if not chosen:
        chosen = dict(spec.classes)
    ignored += _dropped_labels(spec, chosen, ignored)
    headline = spec.headline if spec.headline in chosen else None
    background = "others" if others else ignored
    return {"classes": chosen, "background": background, "headline": headline}


def _read_class(text: str, rest: str) -> ClassSpec:
    labels, *words = rest.split("/")
    options: dict[str, object] = {}
    for word in words:
        check_choice(Argument("class", flag="--class"), word, CLASS_WORDS)
        options[CLASS_WORDS[word]] = word
    found = "all" if labels == "all" else _read_labels(text, labels)
    return ClassSpec(labels=found, **options)  # type: ignore[arg-type]


def _read_labels(text: str, labels: str) -> list[int | str]:
    """Return labels such as ``1,4-7`` for a spec."""
    found: list[int | str] = []
    for part in labels.split(","):
        first, dash, last = part.partition("-")
        if not first.strip().isdecimal() or (dash and not last.strip().isdecimal()):
            raise OptionError(
                f"--class {text!r} must be the name of a class in the spec, or a name and labels: "
                f"lesion=2, bone=1,4-7/components or cell=all."
            )
        found.append(part if dash else int(part))
    return found


def _dropped_labels(
    spec: Spec, chosen: dict[str, ClassSpec], ignored: Sequence[int | str]
) -> list[int]:
    """Return the labels that belong only to classes that were not chosen."""
    if spec.encoding != "labels" or any(one.numbers is None for one in chosen.values()):
        return []
    dropped = {label for name, one in spec.classes.items() for label in one.numbers or ()}
    wanted = {label for one in chosen.values() for label in one.numbers or ()}
    known = {*label_numbers(tuple(ignored)), *label_numbers(spec.void)}
    return sorted(dropped - wanted - known)


def _listed(given: Sequence[str]) -> Iterator[str]:
    for text in given:
        yield from (part.strip() for part in text.split(",") if part.strip())


def preset_lines(name: str, width: int) -> list[str]:
    """Return a preset's name, with its opening comment in full next to it."""
    text = []
    for line in preset_text(name).splitlines():
        if not line.startswith("#"):
            break
        text.append(line.lstrip("# "))
    lines = wrapped(" ".join(text), width - INDENT)
    return [f"{start:{INDENT}}{line}" for start, line in zip_longest([name], lines, fillvalue="")]
