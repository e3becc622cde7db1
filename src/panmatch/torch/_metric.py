"""A torchmetrics `Metric` that matches, tallies and sweeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torchmetrics import Metric

from panmatch.errors import OptionError
from panmatch.labels import SegmentClass
from panmatch.matching import Strategy
from panmatch.overlap import Ints, Score
from panmatch.scoring import ClassCurves, ClassTallies, CutCurve, Interpolation
from panmatch.torch._cuts import Confidence, CutOptions, name_cuts, no_changes
from panmatch.torch._labelling import Instances, Labelling
from panmatch.torch._states import Settings, add_up, name_areas, name_tallies, no_steps

LOOSE_ROWS = 1 << 16  # steps that may accumulate before they are added to the earlier ones


class PanopticMatching(Metric):
    r"""Panoptic Quality under any matching strategy, summed over batches and processes (D3, D7).

    The prediction, `preds`, comes first and the reference, `target`, second, as everywhere in
    torchmetrics, so the metric fits into a `MetricCollection`. Swapping them changes the scores.

    Parameters
    ----------
    classes
        All classes. By default there is only one kind of object.
    strategy, score
        As for `panmatch.match`.
    threshold
        A number in [0, 1), or a list: then the names of scores end with it, as in ``"pq_0.75"``.
    curve
        Whether to match at every threshold, which adds ``autc``, ``autc_sq`` and ``autc_rq``.
    instances
        What an object is.

        - ``"ids"``: tensors are [B, \*spatial] and hold the number of the object, 0 for
          background. With classes they are [B, \*spatial, 2] and hold the class, and the number
          within the class. A thing with number 0 is crowd in `target` and one object in `preds`
          (D10), so number objects from 1 on.
        - ``"components"``: tensors are [B, \*spatial] and hold masks, or class ids, 0 for
          background; connected components of a class are its objects.

        Stuff is one segment per image either way.
    regions
        ``"voronoi"``: predictions are cut by the Voronoi regions of the targets (D8), which
        ``strategy="union"`` needs. Only for objects by number, without classes.
    spacing
        Distance between voxels along each axis, for regions; voxel units by default.
    void
        Labels of `target` that mean unknown (D10); with classes, class ids.
    per_class
        Whether scores of every class are returned too, as in ``"pq/person"``.
    confidence
        Whether predictions have confidences (D17), which every `update` then needs. Adds
        ``average_precision``; and ``best_cut``, the confidence from which on predictions should be
        kept for the highest PQ, with that PQ as ``best_pq``.
    cut
        All other scores are those of the predictions with a confidence of at least this; by
        default of all.
    interpolation
        Of average precision, as for `Surface.average_precision`.
    kwargs
        Options of every torchmetrics `Metric`, such as `sync_on_compute` and `process_group`.

    Examples
    --------
    >>> metric = PanopticMatching(strategy="many-to-one", threshold=0.4, curve=True)
    >>> target = torch.tensor([[[1, 1, 0, 2, 2], [1, 1, 0, 2, 2]]])
    >>> preds = torch.tensor([[[5, 5, 0, 7, 8], [5, 0, 0, 7, 8]]])
    >>> metric.update(preds, target)
    >>> found = metric.compute()
    >>> list(found)
    ['pq', 'sq', 'rq', 'tp', 'fp', 'fn', 'autc', 'autc_sq', 'autc_rq']
    >>> found["pq"], found["autc"]
    (tensor(0.8750, dtype=torch.float64), tensor(0.5125, dtype=torch.float64))

    With confidences, here from the probabilities of a network:

    >>> metric = PanopticMatching(confidence=True, cut=0.5)
    >>> probability = torch.where(preds == 5, 0.75, 0.25)
    >>> metric.update(preds, target, confidence=probability)
    >>> found = metric.compute()
    >>> round(float(found["pq"]), 3), round(float(found["average_precision"]), 3)
    (0.5, 0.5)
    >>> float(found["best_cut"]), round(float(found["best_pq"]), 3)
    (0.75, 0.5)
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False

    counts: Tensor
    steps: list[Tensor]
    changes: list[Tensor]
    images: Tensor

    def __init__(
        self,
        classes: Iterable[SegmentClass] | None = None,
        *,
        strategy: str | Strategy = "one-to-one",
        threshold: float | Sequence[float] = 0.5,
        score: Score = "iou",
        curve: bool = False,
        instances: Instances = "ids",
        regions: str | None = None,
        spacing: Iterable[float] | None = None,
        void: int | Iterable[int] = (),
        per_class: bool = False,
        confidence: bool = False,
        cut: float | None = None,
        interpolation: Interpolation = "all-point",
        **kwargs: object,
    ) -> None:
        super().__init__(**kwargs)
        labelling = Labelling.of(classes, instances, void).in_regions(regions, spacing)
        cuts = CutOptions.of(confidence, cut, interpolation)
        self.settings = Settings.of(labelling, strategy, score, threshold, curve, cuts)
        self.per_class = per_class
        self._names_thresholds = isinstance(threshold, Iterable)
        # A MetricCollection merges metrics whose states are equal after the first batch, and two
        # strategies can agree on a batch. So the first state to be compared encodes the settings.
        digest = sha256(repr(self.settings).encode()).digest()
        self.add_state("fingerprint", torch.tensor(list(digest)), "max")
        self.add_state("counts", torch.zeros(self.settings.shape, dtype=torch.int64), "sum")
        if curve:
            self.add_state("steps", [], "cat")
        if confidence:
            self.add_state("changes", [], "cat")
            self.add_state("images", torch.zeros((), dtype=torch.int64), "sum")

    def update(
        self,
        preds: Tensor,
        target: Tensor,
        void: Tensor | None = None,
        confidence: Confidence | None = None,
    ) -> None:
        r"""Match every image of a batch, and add what is found.

        Parameters
        ----------
        preds, target
            Predictions and references: integer or boolean tensors of the same shape, on any
            device. The batch may be empty. If there is an error, nothing of the batch is added.
        void
            Mask of further unknown voxels, [B, \*spatial].
        confidence
            If the metric was created with ``confidence=True``: probabilities, floating-point
            numbers [B, \*spatial], of which the highest inside a prediction counts. Or, for
            numbered objects of one kind, a list with a mapping from id to confidence for every
            image, or a tensor in the order of the rising ids.
        """
        batch = self.settings.tally_batch(preds, target, void, confidence)
        self.counts = self.counts + torch.from_numpy(batch.counts).to(self.device)
        if self.settings.curve:
            _append(self.steps, batch.steps)
        if self.settings.cuts is not None:
            self.images = self.images + len(preds)
            _append(self.changes, batch.changes)

    def compute(self) -> dict[str, Tensor]:
        """Return all scores as scalars, ready to be logged.

        Returns
        -------
        dict
            ``pq``, ``sq`` and ``rq``: means over the classes that occur (D10), with ``_things``
            and ``_stuff`` where there are both. ``tp``, ``fp`` and ``fn``: sums over classes.
            ``autc``, ``autc_sq`` and ``autc_rq`` with `curve`. ``average_precision``, a mean over
            the classes with references, ``best_cut`` and ``best_pq`` with `confidence`: one cut
            for all classes, at which their mean PQ is highest. Where nothing occurs, scores are
            NaN (D11).
        """
        # Not every device knows float64.
        dtype = torch.float32 if self.device.type == "mps" else torch.float64
        return {
            name: torch.tensor(value, dtype=dtype, device=self.device)
            for name, value in self._named_scores()
        }

    def tallies(self) -> dict[float, ClassTallies]:
        """Return the tallies of all classes and processes, by threshold.

        In a distributed run every process must call it, as for `compute`.
        """
        with self._synchronised():
            return self._tallies()

    def curves(self) -> ClassCurves:
        """Return the curves of all classes and processes, by class id; 1 is the id without classes.

        In a distributed run every process must call it, as for `compute`.
        """
        if not self.settings.curve:
            raise OptionError("there are no curves: create the metric with curve=True.")
        with self._synchronised():
            return self._curves()

    def cut_curves(self) -> dict[float, dict[int, CutCurve]]:
        """Return the scores over the cut of all processes, by threshold and class id.

        For FROC, an image is a case. In a distributed run every process must call it, as for
        `compute`.
        """
        if self.settings.cuts is None:
            raise OptionError("there are no cuts: create the metric with confidence=True.")
        with self._synchronised():
            return self._cut_curves()

    def sync(self, *args: Any, **kwargs: Any) -> None:
        """Gather the states of all processes; parameters are those of `Metric.sync`."""
        if self.settings.curve:
            # Tables of one type and width on every process, also where no image has come yet.
            self.steps = [torch.from_numpy(add_up(_table(self.steps, no_steps()))).to(self.device)]
        if self.settings.cuts is not None:
            table = add_up(_table(self.changes, no_changes()))
            self.changes = [torch.from_numpy(table).to(self.device)]
        super().sync(*args, **kwargs)

    def set_dtype(self, dst_type: str | torch.dtype) -> PanopticMatching:  # noqa: ARG002
        """Return the metric as it is: whole numbers have no precision to change."""
        return self

    def _named_scores(self) -> Iterator[tuple[str, float]]:
        for threshold, tallies in self._tallies().items():
            suffix = f"_{threshold}" if self._names_thresholds else ""
            yield from name_tallies(tallies, suffix, per_class=self.per_class)
        if self.settings.curve:
            yield from name_areas(self._curves(), per_class=self.per_class)
        if self.settings.cuts is not None:
            yield from self._named_cuts(self.settings.cuts)

    def _named_cuts(self, cuts: CutOptions) -> Iterator[tuple[str, float]]:
        kinds = self.settings.labelling.kinds
        for threshold, curves in self._cut_curves().items():
            suffix = f"_{threshold}" if self._names_thresholds else ""
            yield from name_cuts(
                curves, kinds, cuts.interpolation, suffix, per_class=self.per_class
            )

    def _tallies(self) -> dict[float, ClassTallies]:
        return self.settings.tallies(self.counts.cpu().numpy())

    def _curves(self) -> ClassCurves:
        return self.settings.curves(_table(self.steps, no_steps()))

    def _cut_curves(self) -> dict[float, dict[int, CutCurve]]:
        return self.settings.cut_curves(_table(self.changes, no_changes()), int(self.images))

    def _synchronised(self) -> AbstractContextManager[None]:
        context: AbstractContextManager[None] = self.sync_context(
            dist_sync_fn=self.dist_sync_fn, should_sync=self.sync_on_compute
        )
        return context


def _append(tables: list[Tensor], rows: Ints) -> None:
    """Append the rows of a batch, which stay on the host until they are gathered."""
    tables.append(torch.from_numpy(rows))
    if sum(map(len, tables)) > LOOSE_ROWS + 2 * len(tables[0]):
        tables[:] = [torch.from_numpy(add_up(_table(tables, rows[:0])))]


def _table(tables: list[Tensor] | Tensor, nothing: Ints) -> Ints:
    """Return the rows of all batches as one table; `nothing` is one without rows."""
    # Gathered from other processes, they are one tensor instead of a list.
    listed = tables if isinstance(tables, list) else [tables]
    return np.concatenate([nothing, *(table.cpu().numpy() for table in listed)])
