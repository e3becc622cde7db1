"""Voxels that several segments of one side share, so that a union counts them once (D16)."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from panmatch.errors import OverlapError
from panmatch.labels import Ints

if TYPE_CHECKING:
    from panmatch.overlap._graph import Overlap

SHARING_NAMES = ("shared_ref", "shared_first", "shared_preds", "shared_voxels", "refs_overlap")


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """Which predictions share voxels, and whether references do.

    Row r holds ``voxels[r]`` voxels that are in exactly the predictions ``preds[first[r]]`` to
    ``preds[first[r + 1]]``, two or more: all of them where ``ref[r]`` is −1, else those inside that
    reference. All are positions in the overlap.

    Attributes
    ----------
    ref, first, preds, voxels
        The rows.
    refs_overlap
        Whether two references share a voxel.
    """

    ref: Ints
    first: Ints
    preds: Ints
    voxels: Ints
    refs_overlap: bool

    @property
    def preds_overlap(self) -> bool:
        """Whether two predictions share a voxel."""
        return len(self.ref) > 0

    @property
    def sets(self) -> list[tuple[int, ...]]:
        """The predictions of every row."""
        ends = self.first.tolist()
        members = self.preds.tolist()
        return [tuple(members[i:j]) for i, j in itertools.pairwise(ends)]

    @classmethod
    def of_rows(
        cls, rows: Iterable[tuple[int, Sequence[int], int]], *, refs_overlap: bool
    ) -> Sharing | None:
        """Return the sharing with given rows (reference, predictions, voxels); None if empty.

        Rows of the same sets are added up.
        """
        found: dict[tuple[tuple[int, ...], int], int] = defaultdict(int)
        for ref, preds, voxels in rows:
            found[tuple(sorted(preds)), ref] += voxels
        if not found and not refs_overlap:
            return None
        keys = sorted(found)
        lengths = [len(preds) for preds, _ in keys]
        return cls(
            np.array([ref for _, ref in keys], np.int64),
            np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64),
            np.array([pred for preds, _ in keys for pred in preds], np.int64),
            np.array([found[key] for key in keys], np.int64),
            refs_overlap,
        )

    def rows(self) -> Iterable[tuple[int, tuple[int, ...], int]]:
        """Return the rows (reference, predictions, voxels)."""
        return zip(self.ref.tolist(), self.sets, self.voxels.tolist(), strict=True)

    def moved(self, refs: Ints, preds: Ints) -> Iterable[tuple[int, list[int], int]]:
        """Return the rows at new positions of references and predictions; −1 for one left out."""
        for ref, members, voxels in self.rows():
            kept = [int(preds[pred]) for pred in members if preds[pred] >= 0]
            place = int(refs[ref]) if ref >= 0 else -1
            if len(kept) > 1 and (ref < 0 or place >= 0):
                yield place, kept, voxels

    def columns(self) -> dict[str, Ints]:
        """Return everything as named arrays."""
        values = (self.ref, self.first, self.preds, self.voxels, np.array([int(self.refs_overlap)]))
        return dict(zip(SHARING_NAMES, values, strict=True))

    @classmethod
    def from_columns(cls, columns: Mapping[str, npt.ArrayLike]) -> Sharing | None:
        """Return what `columns` gave; None without those columns."""
        missing = [name for name in SHARING_NAMES if name not in columns]
        if len(missing) == len(SHARING_NAMES):
            return None
        if missing:
            raise OverlapError(
                f"the columns {missing}, which an overlap of masks that share voxels needs, are "
                f"missing."
            )
        ref, first, preds, voxels, overlap = (
            np.asarray(columns[name]).astype(np.int64) for name in SHARING_NAMES
        )
        return cls(ref, first, preds, voxels, bool(overlap.any()))


class Unions:
    """Sizes of unions of predictions that may share voxels, each voxel counted once (D16).

    Examples
    --------
    >>> import panmatch as pm
    >>> square, cross = np.array([1, 1, 1, 0], bool), np.array([0, 0, 1, 1], bool)
    >>> shared = pm.Overlap.from_masks([np.array([0, 1, 1, 0], bool)], [square, cross])
    >>> Unions(shared).excess(0, [0, 1])
    (1, 1)
    """

    def __init__(self, overlap: Overlap) -> None:
        assert overlap.sharing is not None
        self._of_pred: dict[int, list[tuple[int, frozenset[int], int]]] = defaultdict(list)
        for ref, members, voxels in overlap.sharing.rows():
            for pred in members:
                self._of_pred[pred].append((ref, frozenset(members), voxels))

    def added(self, ref: int, members: Iterable[int], pred: int) -> tuple[int, int]:
        """Return how many voxels of a prediction are already in the union of others.

        Returns
        -------
        shared, covered
            Those of them inside the reference, and all of them.
        """
        have = set(members)
        shared = covered = 0
        for place, together, voxels in self._of_pred.get(pred, ()):
            if have.isdisjoint(together):
                continue
            covered += voxels if place < 0 else 0
            shared += voxels if place == ref else 0
        return shared, covered

    def excess(self, ref: int, preds: Iterable[int]) -> tuple[int, int]:
        """Return how much sums over predictions exceed their union: inside a reference, and all."""
        shared = covered = 0
        members: list[int] = []
        for pred in preds:
            more = self.added(ref, members, pred)
            shared, covered = shared + more[0], covered + more[1]
            members.append(pred)
        return shared, covered


def predictions_overlap(overlap: Overlap) -> bool:
    """Whether two predictions share a voxel."""
    return overlap.sharing is not None and overlap.sharing.preds_overlap


def check_disjoint(overlap: Overlap, what: str) -> None:
    """Raise an `OverlapError` if segments of one side share voxels.

    Parameters
    ----------
    what
        What needs disjoint segments, to begin a sentence with.
    """
    if overlap.sharing is not None:
        raise OverlapError(
            f"{what} needs segments that do not share voxels, but some of these masks do (D16): "
            f"give every voxel to one mask first, such as the one with the highest confidence, and "
            f"use count_overlaps."
        )
