"""The methods of a paper, sentence by sentence, from the spec of a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from panmatch.datasets._citations import FRAMEWORK, OF_RELATED, PANOPTICA, PLAIN_COUNTS, Citation
from panmatch.datasets._paper_sentences import listed, mark, marked_methods, matcher_text
from panmatch.evaluation import MEANS, Result
from panmatch.scoring import Metric
from panmatch.spec import ClassSpec, Spec

MOST_CLASSES = 6  # that are described; of more, only the names are listed
ENCODINGS = {
    "coco": "COCO panoptic files",
    "coco-instances": "COCO instance files",
    "cityscapes": "Cityscapes instance ids",
    "panoptic-parts": "Panoptic Parts ids",
}
NEIGHBOURS = {"full": {2: 8, 3: 26}, "faces": {2: 4, 3: 6}}  # by axes of the image
UNDEFINED = {
    "skip": "were left out of means over cases",
    "zero": "counted as 0 in means over cases",
    "one": "counted as 1 in means over cases",
}


def methods_sentences(
    result: Result, version: str, protocol: Mapping[str, str] | None
) -> Iterator[str]:
    """Yield how a result was scored; works to cite are marked as ``[@key]``."""
    yield _classes_sentence(result)
    yield marked_methods(result, version)
    yield _framework_sentence()
    yield _settings_sentence(result)
    yield from _metric_sentences(result)
    yield from _special_sentences(result)
    if protocol is not None:
        yield _protocol_sentence(protocol)


def protocol_works(protocol: Mapping[str, str] | None) -> list[Citation]:
    """Return the works that a protocol rests on."""
    name = "" if protocol is None else protocol["name"]
    return [PANOPTICA] if name.startswith("panoptica") else []


def _framework_sentence() -> str:
    return (
        f"Matching strategies and the counting of objects follow the unified framework for "
        f"instance matching{mark(FRAMEWORK)}."
    )


def _classes_sentence(result: Result) -> str:
    """Return what the classes are, and what an object of each is."""
    spec = result.spec
    if spec.encoding in ENCODINGS:
        names = {one.setting.class_name for one in result.series} - set(MEANS)
        n = f"{len(names)} classes" if len(names) > 1 else "one class"
        return f"Labels were read from {ENCODINGS[spec.encoding]}, with {n}."
    if list(spec.classes) == ["object"]:
        return f"Objects were {_class_text(spec.classes['object'], result)}."
    if len(spec.classes) > MOST_CLASSES:
        return f"The {len(spec.classes)} classes were {listed(list(spec.classes))}."
    texts = [f"{name} ({_class_text(one, result)})" for name, one in spec.classes.items()]
    return f"The class{'es were' if len(texts) > 1 else ' was'} {listed(texts)}."


def _class_text(one: ClassSpec, result: Result) -> str:
    """Return what an object of a class is."""
    labels = "all labels" if one.labels == "all" else _labels_text(one.labels)
    if one.kind == "stuff":
        details = [f"{labels} as one segment per image"]
    elif one.instances == "ids":
        details = ["single labels" + ("" if one.labels == "all" else f", {labels}")]
    else:
        each = " each" if one.instances == "label-components" else ""
        details = [f"{_components(one, result)} of {labels}{each}"]
    if one.min_voxels > 1:
        details.append(f"those below {one.min_voxels} voxels ignored on both sides")
    if one.parts:
        details.append(f"parts {_numbers_text(one.parts)}")
    return "; ".join(details)


def _components(one: ClassSpec, result: Result) -> str:
    """Return what components are, by the number of neighbours where the axes are known."""
    axes = {len(case.spacing) for case in result.cases if case.spacing}
    neighbours = NEIGHBOURS[one.connectivity].get(axes.pop()) if len(axes) == 1 else None
    if neighbours is None:
        return f"connected components ({one.connectivity.rstrip('s')} connectivity)"
    return f"{neighbours}-connected components"


def _labels_text(labels: Sequence[int | str]) -> str:
    single = len(labels) == 1 and isinstance(labels[0], int)
    return f"label{'' if single else 's'} {_numbers_text(labels)}"


def _numbers_text(labels: Sequence[int | str]) -> str:
    return listed([str(one).replace("-", " to ") for one in labels])


def _settings_sentence(result: Result) -> str:
    """Return what else was computed: further thresholds and matchers."""
    spec = result.spec
    texts = []
    if len(spec.thresholds) > 1:
        texts.append(f"at thresholds of {listed([f'{one:g}' for one in spec.thresholds[1:]])}")
    if len(spec.matching) > 1:
        others = [matcher_text(one, result) for one in spec.matching[1:]]
        texts.append(f"with objects matched {listed(others)}")
    return f"The same scores were computed {' and '.join(texts)}." if texts else ""


def _metric_sentences(result: Result) -> Iterator[str]:
    """Yield which metrics were measured of objects and of classes."""
    spec = result.spec
    metrics = [one for one in spec.metric_objects if one.name != "iou"]
    if metrics:
        names = listed([_metric_text(one, result) for one in metrics])
        yield f"Matched objects were also measured by {names}{_penalty_text(metrics, result)}."
    if spec.whole:
        names = listed([_metric_text(one, result) for one in spec.whole_objects])
        yield f"Every class was also scored as a single mask by {names}."
    related = list(_related_texts(spec))
    if related:
        beginning = "Further scores were" if len(related) > 1 else "A further score was"
        yield f"{beginning} {listed(related)}."


def _metric_text(metric: Metric, result: Result) -> str:
    text, _, which = metric.title.partition(" (")[0].partition(", ")
    text, options = f"{text} ({which})" if which else text, result.spec.metric_options
    text = text if text[1:2].isupper() or text.startswith("Dice") else text[:1].lower() + text[1:]
    if metric.name == "nsd":
        text += f" at a tolerance of {options.tolerance:g} {result.unit or 'units of the spacing'}"
    if metric.name == "boundary_iou" and options.boundary_width is not None:
        text += f" with a boundary of {options.boundary_width:g}"
    return text


def _penalty_text(metrics: Sequence[Metric], result: Result) -> str:
    penalty = result.spec.metric_options.penalty
    if penalty is None or not any(one.penalised for one in metrics):
        return ""
    unit = f" {result.unit}" if result.unit else ""
    value = "the image diagonal" if penalty == "diagonal" else f"{penalty:g}{unit}"
    return f"; objects without a partner got a distance of {value}"


def _related_texts(spec: Spec) -> Iterator[str]:
    for one in (one for one in spec.related if one.score not in PLAIN_COUNTS):
        name = one.parts[0].title if len(one.parts) == 1 else one.score
        options = ", ".join(f"{option} {value}" for option, value in one.options)
        works = mark(OF_RELATED[one.score]) if one.score in OF_RELATED else ""
        yield f"{name}{f' ({options})' if options else ''}{works}"


def _special_sentences(result: Result) -> Iterator[str]:
    """Yield what is left out, and what undefined scores count as."""
    if (cut := result.spec.cut) is not None:
        yield f"Predictions with a confidence below {cut:g} were left out."
    spec = result.spec
    if spec.void:
        yield (
            f"Voxels of the reference with {_labels_text(spec.void)} were treated as unknown and "
            f"left out."
        )
    if spec.has_parts and spec.part_background == "none":
        yield "Part quality was computed without background."
    if max(len(result.evaluated(model)) for model in result.models or ("",)) > 1:
        yield f"Cases in which a score is undefined {UNDEFINED[spec.averaging.undefined]}."
    if spec.edge_cases:
        names = listed(list(spec.edge_cases))
        yield f"Where nothing can be averaged, values were set for {names}, as the spec lists them."


def _protocol_sentence(protocol: Mapping[str, str]) -> str:
    return (
        f"The numbers in the table protocol.csv reproduce those of {protocol['program']}, version "
        f"{protocol['version']} ({protocol['source']}){mark(*protocol_works(protocol))}."
    )
