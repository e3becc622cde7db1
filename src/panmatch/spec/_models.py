"""The models of a spec: what each key means, and which values it accepts."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from panmatch.errors import check_choice, nearest_name
from panmatch.labels import Instances, Reduction
from panmatch.matching import ManyToOne, Matcher, OneToMany, OneToOne
from panmatch.overlap import Background, check_threshold
from panmatch.scoring import Metric, need_voxels, resolve_metrics
from panmatch.spec._edge_cases import EdgeCase, EdgeCaseEntry, by_column, edge_scores
from panmatch.spec._label_set import (
    LabelSet,
    LabelSetOrAll,
    MarkerSet,
    MarkerSetOrOthers,
    label_numbers,
)
from panmatch.spec._matchers import MatcherEntry
from panmatch.spec._related import RelatedEntry, RelatedRequest

Encoding = Literal["labels", "coco", "coco-instances", "cityscapes", "panoptic-parts"]
CODED: tuple[Encoding, ...] = ("cityscapes", "panoptic-parts")
IN_JSON: tuple[Encoding, ...] = ("coco", "coco-instances")  # classes are those of the file


class StrictModel(BaseModel):
    """A frozen model that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, given: object) -> object:
        if isinstance(given, dict):
            names = list(cls.model_fields)
            for key in given:
                if key not in names:
                    raise ValueError(
                        f"the key {key!r} is not known{nearest_name(key, names)} Accepted: "
                        f"{', '.join(names)}"
                    )
        return given


class ClassSpec(StrictModel):
    """One class: which labels belong to it, and what counts as one object.

    Attributes
    ----------
    labels
        Labels of the class, or ``"all"``. If ids encode their class (``cityscapes``,
        ``panoptic-parts``), the number of the class.
    kind
        ``"things"`` are counted one by one, ``"stuff"`` is one segment per image.
    instances
        ``"ids"``: each label is one object. ``"components"``: each connected component of all
        labels together is one object. ``"label-components"``: each connected component of each
        label is one object, so labels that touch stay separate.
    connectivity
        What connects voxels of a component: ``"full"`` (26 neighbours in 3-D, 8 in 2-D) or
        ``"faces"`` (6 and 4).
    min_voxels
        Smaller objects become background, on both sides.
    parts
        Labels of the parts: in the part images if there are any, otherwise among `labels`.
    """

    labels: LabelSetOrAll = "all"
    kind: Literal["things", "stuff"] = "things"
    instances: Instances = "ids"
    connectivity: Literal["full", "faces"] = "full"
    min_voxels: int = Field(default=1, ge=1)
    parts: LabelSet = ()

    @property
    def numbers(self) -> tuple[int, ...] | None:
        """All labels of the class; None for every label in an image."""
        return None if self.labels == "all" else label_numbers(self.labels)

    @model_validator(mode="after")
    def _check_labels(self) -> ClassSpec:
        if self.numbers == ():
            raise ValueError("labels is empty: name at least one, or 'all'")
        return self


class MetricOptions(StrictModel):
    """Options of the metrics, as for `measure`.

    Attributes
    ----------
    tolerance
        For ``nsd``: how far apart boundaries may be, in the unit of the spacing.
    boundary_width
        For ``boundary_iou``: how thick the boundary is; None for 2 % of the image diagonal.
    penalty
        Distance of an object without a partner: a number, ``"diagonal"`` for the length of the
        image diagonal, or None for NaN.
    """

    tolerance: float = Field(default=1.0, ge=0)
    boundary_width: float | None = Field(default=None, gt=0)
    penalty: Annotated[float, Field(ge=0)] | Literal["diagonal"] | None = None


class Averaging(StrictModel):
    """How cases are averaged.

    Attributes
    ----------
    undefined
        What the mean of cases does with a case whose score is undefined, such as PQ if neither
        side has an object (D11): ``"skip"`` it, or count it as ``"zero"`` or ``"one"``.
    interval
        The bootstrap interval: ``"studentised"``, ``"bca"`` (bias-corrected and accelerated) or
        ``"percentile"``.
    cluster
        Column of the case table that says which cases belong together, such as ``"patient"``.
        Intervals and tests then draw clusters, not single cases. None if cases are independent.
    """

    undefined: Literal["skip", "zero", "one"] = "skip"
    interval: Literal["studentised", "bca", "percentile"] = "studentised"
    cluster: str | None = None


class ConfidenceSpec(StrictModel):
    """How sure the model is of each predicted object (D17).

    Attributes
    ----------
    source
        Where confidences of label images come from: ``"csv"``, a file with the columns ``id`` and
        ``score``, or ``"image"``, an image of probabilities. COCO instances have their own scores.
    reduce
        How the probabilities inside an object become one number: ``"max"`` or ``"mean"``.
    bounds
        The lowest and highest confidence allowed, such as ``[0, 1]``; None for any finite number.
    cut
        Confidence that a prediction must have to count in scores, at least; None to count all. Only
        the scores of detections look at every cut.
    """

    source: Literal["csv", "image"] = "csv"
    reduce: Reduction = "max"
    bounds: tuple[float, float] | None = None
    cut: float | None = None

    @model_validator(mode="after")
    def _check_bounds(self) -> ConfidenceSpec:
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise ValueError(f"bounds={list(self.bounds)} must be a lower and a higher number")
        return self


class Spec(StrictModel):
    """What to evaluate, and how.

    Attributes
    ----------
    encoding
        What pixel values mean: ``"labels"`` (with `classes`), ``"coco"`` (segment ids, classes
        from the JSON file), ``"cityscapes"`` or ``"panoptic-parts"`` (ids encode their class).
        ``"coco-instances"`` reads masks that may overlap from JSON files.
    classes
        Classes by name. They may share labels, as a lesion and its core do.
    headline
        Class for the summary, comparisons, the report and ``--fail-under``; None for the mean of
        classes, or the only class.
    background
        Labels that belong to no class, and are ignored; ``"others"`` for all that no class has. Any
        other label without a class is an error.
    void
        Labels of the reference that mean "unknown" (D10).
    colour_ids
        Whether colour images encode ids as R + 256 G + 65536 B.
    void_part
        Label of unknown parts.
    not_parts
        Labels in part images that are not parts.
    part_background
        Whether everything outside the parts counts as one more part (D9): ``"image"`` or
        ``"none"``.
    matching
        One or more matchers; the name of a strategy means its default options.
    thresholds
        Thresholds at which to score, each in [0, 1).
    curve
        Whether to compute the exact curve over all thresholds, with its areas.
    metrics
        Metrics of each object.
    metric_options
        Options of the metrics.
    whole
        Metrics of each class as one mask, such as ``dice`` and ``hd95``.
    related
        Other scores of each class that need no matcher, such as ``cc_dice`` or ``aji``: names, or
        mappings with the key ``score``, options, and ``name``.
    edge_cases
        The values of scores when there is nothing to average: for each score, one value, or values
        for ``both_empty``, ``no_reference``, ``no_prediction`` and ``no_match``. A name from
        `metrics` means its average over true positives; other scores go by their column names.
    averaging
        How cases are averaged.
    confidence
        How sure the model is of each prediction, for average precision, FROC and other scores of
        detections (D17); None if that is not known.
    unit
        Unit of distances, volumes and tolerances: files in another unit are converted. None keeps
        the unit of each file (D14).

    Examples
    --------
    >>> import panmatch as pm
    >>> spec = pm.Spec(matching=["one-to-one", {"strategy": "many-to-one", "gate": "edge"}])
    >>> spec.matching[1].strategy
    ManyToOne(solver='merge', gate='edge')
    >>> pm.Spec(treshold=0.3)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    pydantic_core.ValidationError: the key 'treshold' is not known; did you mean 'thresholds'? …
    """

    encoding: Encoding = "labels"
    classes: dict[str, ClassSpec] = Field(default_factory=lambda: {"object": ClassSpec()})
    headline: str | None = None
    background: MarkerSetOrOthers = ()
    void: MarkerSet = ()
    colour_ids: bool = False
    void_part: int | None = None
    not_parts: MarkerSet = ()
    part_background: Background = "image"
    matching: tuple[MatcherEntry, ...] = (
        Matcher(OneToOne()),
        Matcher(ManyToOne()),
        Matcher(OneToMany()),
    )
    thresholds: tuple[float, ...] = (0.1, 0.25, 0.5)
    curve: bool = True
    metrics: tuple[str, ...] = ("iou", "dice")
    metric_options: MetricOptions = MetricOptions()
    whole: tuple[str, ...] = ()
    related: tuple[RelatedEntry, ...] = ()
    edge_cases: dict[str, EdgeCaseEntry] = Field(default_factory=dict)
    averaging: Averaging = Averaging()
    confidence: ConfidenceSpec | None = None
    unit: Literal["mm", "µm"] | None = None

    @field_validator("matching", "thresholds", "metrics", "whole", "related", mode="before")
    @classmethod
    def _as_list(cls, given: object) -> object:
        return given if isinstance(given, list | tuple) else [given]

    @field_validator("thresholds")
    @classmethod
    def _check_thresholds(cls, given: tuple[float, ...]) -> tuple[float, ...]:
        for threshold in given:
            check_threshold(threshold)
        if len(set(given)) < len(given) or not given:
            raise ValueError("thresholds must be one or more different numbers")
        return tuple(sorted(given))

    @field_validator("matching")
    @classmethod
    def _check_matching(cls, given: tuple[Matcher, ...]) -> tuple[Matcher, ...]:
        if not given:
            raise ValueError("matching is empty: name at least one strategy")
        repeated = [matcher for i, matcher in enumerate(given) if matcher in given[:i]]
        if repeated:
            raise ValueError(f"{repeated[0].name!r} is listed twice with the same options")
        return given

    @field_validator("related")
    @classmethod
    def _check_related(cls, given: tuple[RelatedRequest, ...]) -> tuple[RelatedRequest, ...]:
        names = [request.column for request in given]
        repeated = [name for i, name in enumerate(names) if name in names[:i]]
        if repeated:
            raise ValueError(f"{repeated[0]!r} is listed twice: give one of them another `name`")
        return given

    @field_validator("metrics", "whole")
    @classmethod
    def _check_metrics(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        resolve_metrics(given)
        return given

    @model_validator(mode="before")
    @classmethod
    def _leave_classes_to_coco(cls, given: object) -> object:
        if isinstance(given, dict) and given.get("encoding") in IN_JSON:
            given = {"classes": {}, **given}
            if given["encoding"] == "coco-instances":
                given["confidence"] = given.get("confidence") or {}
        return given

    @model_validator(mode="after")
    def _check_classes(self) -> Spec:
        if self.encoding in IN_JSON:
            if self.classes:
                raise ValueError(
                    f"with encoding {self.encoding!r}, classes come from the JSON file: drop them"
                )
        elif not self.classes:
            raise ValueError("classes is empty: name at least one")
        self._check_labels()
        if self.encoding in CODED:
            for name, kind in self.classes.items():
                if kind.numbers is None or len(kind.numbers) != 1 or kind.instances != "ids":
                    raise ValueError(
                        f"classes.{name}: with encoding {self.encoding!r}, labels must be the "
                        f"number of the class, and instances must be ids"
                    )
        if self.encoding != "labels" and any(matcher.regions for matcher in self.matching):
            raise ValueError(f"regions are not supported with encoding {self.encoding!r}")
        self._check_objectives()
        self._check_confidence()
        if self.headline is not None and self.encoding not in IN_JSON:
            check_choice("headline", self.headline, self.classes)
        strays = {name for name in self.classes if name.startswith("mean of ") or not name.strip()}
        if strays:
            raise ValueError(f"classes: {sorted(strays)[0]!r} is a reserved name")
        return self

    @model_validator(mode="after")
    def _check_edge_cases(self) -> Spec:
        _ = self.edge_columns  # raises for an unknown name
        return self

    def _check_objectives(self) -> None:
        for place, matcher in enumerate(self.matching):
            if matcher.strategy.quality == "parts" and not self.has_parts:
                raise ValueError(
                    f"matching[{place}]: {matcher.label} maximises PartPQ, but no class has parts. "
                    f"List the `parts` of a class, or drop 'objective: parts'"
                )

    def _check_confidence(self) -> None:
        if self.encoding == "coco-instances":
            voxels = need_voxels((*self.metric_objects, *self.whole_objects))
            unknown = [*voxels, *self.whole, *(request.column for request in self.related)]
            if unknown:
                raise ValueError(
                    f"with encoding 'coco-instances', masks may overlap, so {unknown[0]!r} cannot "
                    f"be computed: drop it. Metrics of counts, centres and boxes can be, such as "
                    f"iou and dice"
                )
        elif self.confidence is not None and self.encoding != "labels":
            raise ValueError(
                f"confidence: with encoding {self.encoding!r}, predictions have no confidence; it "
                f"needs encoding 'labels' or 'coco-instances'"
            )
        if self.confidence is not None and self.confidence.source == "csv":
            for name, kind in self.classes.items():
                if kind.kind == "things" and kind.instances != "ids":
                    raise ValueError(
                        f"confidence: the objects of classes.{name} are connected components, "
                        f"which have no ids that a CSV file could name. Write `source: image`, or "
                        f"`instances: ids`"
                    )

    def _check_labels(self) -> None:
        left_out = {*label_numbers(self.void), *self.background_labels}
        for name, kind in self.classes.items():
            if kind.numbers is None and self.background == "others":
                raise ValueError(
                    f"classes.{name} has all labels, so there are none left for background: "
                    f"others. List the labels of one of them"
                )
            labels = {*(kind.numbers or ()), *label_numbers(kind.parts)}
            if 0 in labels and self.encoding == "labels":
                raise ValueError(f"classes.{name}: label 0 is always background, so remove it")
            both = sorted(left_out.intersection(kind.numbers or ()))
            if both and self.encoding == "labels":
                raise ValueError(
                    f"classes.{name}: label {both[0]} is also listed under void or background"
                )

    @property
    def background_labels(self) -> tuple[int, ...]:
        """Labels listed as background; empty if all other labels are."""
        return () if self.background == "others" else label_numbers(self.background)

    @cached_property
    def metric_objects(self) -> tuple[Metric, ...]:
        """The metrics as objects."""
        return resolve_metrics(self.metrics)

    @cached_property
    def whole_objects(self) -> tuple[Metric, ...]:
        """The metrics of classes as one mask, as objects."""
        return resolve_metrics(self.whole) if self.whole else ()

    @property
    def edge_columns(self) -> dict[str, EdgeCase]:
        """The edge cases by table column."""
        metrics, whole = resolve_metrics(self.metrics), resolve_metrics(self.whole)
        options = {"parts": self.has_parts, "curve": self.curve}
        return by_column(self.edge_cases, edge_scores(metrics, whole, self.related, **options))

    @property
    def cut(self) -> float | None:
        """The confidence that predictions need to count in scores; None if all count."""
        return None if self.confidence is None else self.confidence.cut

    @property
    def has_parts(self) -> bool:
        """Whether some class has parts."""
        return any(kind.parts for kind in self.classes.values())

    def canonical(self) -> str:
        """Return the spec as one line of JSON; classes keep their order, which tables follow."""
        return self.model_dump_json()
