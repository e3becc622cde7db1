"""Scores that ask how well two clusterings of the voxels agree, instead of matching objects.

All of them come from the contingency table: how many voxels each reference segment shares with each
predicted one. Overlap counts have all of it, whoever touches whom: no matching, no threshold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from panmatch.errors import OptionError, OverlapError, check_choice
from panmatch.matching import check_overlap, ratio
from panmatch.overlap import Areas, Ints, Overlap, check_disjoint, sum_by
from panmatch.related._expected_information import expected_information

Background = Literal["ignore", "include"]
PairForm = Literal["pairs", "snemi3d"]


@dataclass(frozen=True, slots=True, eq=False)
class Contingency:
    """How many voxels carry each combination of a reference and a predicted segment.

    Attributes
    ----------
    joint
        Voxels of every combination that occurs.
    ref, pred
        For each combination, the position of its segment among `ref_sizes` and `pred_sizes`.
    ref_sizes, pred_sizes
        Voxels of the segments, as far as they are counted.
    """

    joint: Areas
    ref: Ints
    pred: Ints
    ref_sizes: Areas
    pred_sizes: Areas

    @classmethod
    def of(cls, overlap: Overlap, background: Background) -> Contingency:
        """Count the combinations.

        Parameters
        ----------
        overlap
            Of whole predictions.
        background
            Of the reference: ``"ignore"`` leaves its voxels out, ``"include"`` makes it a segment.
            Background of the prediction is a segment either way, as in scikit-image.
        """
        check_overlap(overlap)
        check_choice("background", background, get_args(Background))
        check_disjoint(overlap, "Comparing clusterings")
        if overlap.pieces is not None:
            raise OverlapError(
                "overlap is cut by regions, but clusterings are compared as a whole: pass "
                "count_overlaps(reference, prediction)."
            )
        edges, n_ref, n_pred = overlap.edges, len(overlap.ref_ids), len(overlap.pred_ids)
        alone_ref = overlap.ref_sizes - sum_by(edges.ref, edges.intersection, n_ref)
        alone_pred = overlap.pred_areas - sum_by(edges.pred, edges.intersection, n_pred)
        joint = [edges.intersection, alone_ref]
        ref = [edges.ref, np.arange(n_ref)]
        pred = [edges.pred, np.full(n_ref, n_pred)]
        if background == "include":
            neither = _voxels(overlap) - overlap.ref_sizes.sum() - alone_pred.sum()
            joint += [alone_pred, np.array([neither])]
            ref += [np.full(n_pred + 1, n_ref)]
            pred += [np.arange(n_pred + 1)]
        counts, rows, columns = map(np.concatenate, (joint, ref, pred))
        some = counts > 0
        counts, rows, columns = counts[some], rows[some], columns[some]
        sizes = (sum_by(at, counts, n + 1) for at, n in ((rows, n_ref), (columns, n_pred)))
        return cls(counts, rows, columns, *sizes)

    @property
    def voxels(self) -> float:
        """Voxels that are counted."""
        total: float = self.joint.sum().item()
        return total


def _voxels(overlap: Overlap) -> float:
    if overlap.voxels is None:
        raise OptionError(
            "background='include' counts the background as a segment, but the overlap does not say "
            "how many voxels the image has: pass voxels= to Overlap.from_dense, or "
            "background='ignore'."
        )
    return overlap.voxels


class VariationOfInformation(NamedTuple):
    """How many bits are missing to tell one clustering from the other; 0 where both agree.

    Attributes
    ----------
    split
        H(prediction | reference): what over-segmentation adds.
    merge
        H(reference | prediction): what under-segmentation loses.
    """

    split: float
    merge: float

    @property
    def total(self) -> float:
        """The variation of information: the sum of both."""
        return self.split + self.merge


def variation_of_information(
    overlap: Overlap, *, background: Background = "include"
) -> VariationOfInformation:
    """Return the conditional entropies of each clustering, given the other, in bits.

    NaN if no voxel is counted.

    Parameters
    ----------
    overlap
        From `count_overlaps`.
    background
        Of the reference: ``"include"`` makes it a segment, ``"ignore"`` leaves its voxels out.

    References
    ----------
    Meilă: Comparing clusterings, an information based distance (2007).

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> ov = pm.count_overlaps([1, 1, 1, 1, 2, 2, 2, 2], [1, 1, 3, 3, 4, 4, 4, 4])
    >>> related.variation_of_information(ov)
    VariationOfInformation(split=0.5, merge=0.0)
    """
    table = Contingency.of(overlap, background)
    split = _conditional_entropy(table.joint, table.ref_sizes[table.ref])
    merge = _conditional_entropy(table.joint, table.pred_sizes[table.pred])
    return VariationOfInformation(split, merge)


def _conditional_entropy(joint: Areas, given: Areas) -> float:
    """Return Σ n log2(given / n) / N, in bits."""
    bits = math.fsum((joint * np.log2(given / joint)).tolist())
    return ratio(bits, joint.sum().item())


def adapted_rand_error(
    overlap: Overlap, *, background: Background = "ignore", form: PairForm = "pairs"
) -> float:
    """Return 1 − F1 of pairs of voxels that are together in one clustering or in both.

    NaN if no two voxels are together on either side.

    Parameters
    ----------
    overlap
        From `count_overlaps`.
    background
        Of the reference: ``"ignore"`` leaves its voxels out, ``"include"`` makes it a segment.
    form
        ``"pairs"``: pairs of two different voxels, as in scikit-image. ``"snemi3d"``: squares of
        counts, in which every voxel of predicted background is a segment of its own, as in the
        programs of SNEMI3D and CREMI.

    References
    ----------
    Arganda-Carreras et al.: Crowdsourcing the creation of image segmentation algorithms for
    connectomics (2015).

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> ov = pm.count_overlaps([1, 1, 1, 1], [1, 1, 2, 2])
    >>> round(related.adapted_rand_error(ov), 6)
    0.5
    """
    check_choice("form", form, get_args(PairForm))
    table = Contingency.of(overlap, background)
    if form == "snemi3d":
        both, ref, pred = _snemi_squares(table, overlap)
    else:
        both, ref, pred = (
            _squares(counts) - table.voxels
            for counts in (table.joint, table.ref_sizes, table.pred_sizes)
        )
    return 1 - ratio(2 * both, ref + pred)


def _snemi_squares(table: Contingency, overlap: Overlap) -> tuple[float, float, float]:
    """Return the sums of squares in which voxels of predicted background stand alone."""
    background = len(table.pred_sizes) - 1
    on_pred = table.pred != background
    alone = table.pred_sizes[background].item() / _voxels(overlap)
    both = _squares(table.joint[on_pred]) + alone
    return both, _squares(table.ref_sizes), _squares(table.pred_sizes[:background]) + alone


def _squares(counts: Areas) -> float:
    """Return the sum of squares; exact for whole numbers of any size."""
    total: float = sum(count * count for count in counts.tolist())
    return total


def rand_index(overlap: Overlap, *, background: Background = "include") -> float:
    """Return the share of pairs of voxels on which the clusterings agree: together, or apart.

    NaN with fewer than two voxels.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> round(related.rand_index(pm.count_overlaps([1, 1, 2, 2], [1, 1, 2, 3])), 6)
    0.833333
    """
    both, ref, pred, pairs = _pairs(Contingency.of(overlap, background))
    return ratio(pairs - ref - pred + 2 * both, pairs)


def adjusted_rand_index(overlap: Overlap, *, background: Background = "include") -> float:
    """Return the Rand index adjusted for chance: 1 if equal, about 0 if random.

    References
    ----------
    Hubert, Arabie: Comparing partitions (1985).

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> round(related.adjusted_rand_index(pm.count_overlaps([1, 1, 2, 2], [1, 1, 2, 3])), 6)
    0.571429
    """
    both, ref, pred, pairs = _pairs(Contingency.of(overlap, background))
    if not pairs:
        return math.nan
    # Everything times the number of pairs: whole numbers until the one division.
    return ratio(2 * (both * pairs - ref * pred), (ref + pred) * pairs - 2 * ref * pred, 1.0)


def _pairs(table: Contingency) -> tuple[float, float, float, float]:
    """Return pairs of voxels: together in both, in the reference, in the prediction; all."""
    n = table.voxels
    both, ref, pred = (
        _squares(counts) - n for counts in (table.joint, table.ref_sizes, table.pred_sizes)
    )
    return both, ref, pred, n * n - n


def adjusted_mutual_information(overlap: Overlap, *, background: Background = "include") -> float:
    """Return the mutual information adjusted for chance: 1 if equal, about 0 if random.

    It is (MI − E[MI]) / (mean of both entropies − E[MI]), with the expectation over all clusterings
    that have segments of the same sizes. NaN if no voxel is counted.

    References
    ----------
    Vinh, Epps, Bailey: Information theoretic measures for clusterings comparison (2010).

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> ov = pm.count_overlaps([1, 1, 2, 2, 3, 3], [1, 1, 1, 2, 3, 3])
    >>> round(related.adjusted_mutual_information(ov), 6)
    0.502361
    """
    table = Contingency.of(overlap, background)
    n = table.voxels
    if not n:
        return math.nan
    ref, pred = (sizes[sizes > 0] for sizes in (table.ref_sizes, table.pred_sizes))
    if len(ref) == len(pred) == 1 or len(ref) == len(pred) == len(table.joint) == n:
        return 1.0
    entropies = [_conditional_entropy(sizes, np.full(len(sizes), n)) for sizes in (ref, pred)]
    split = _conditional_entropy(table.joint, table.ref_sizes[table.ref])
    shared = entropies[1] - split
    by_chance = expected_information(ref, pred, n)
    return ratio(shared - by_chance, sum(entropies) / 2 - by_chance, 1.0)


def cremi_score(overlap: Overlap) -> float:
    """Return √(variation of information · adapted Rand error), as the CREMI challenge ranks.

    Background of the reference is left out, and the error has the form ``"snemi3d"``.

    References
    ----------
    CREMI: MICCAI challenge on circuit reconstruction from electron microscopy images (2016).

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> round(related.cremi_score(pm.count_overlaps([1, 1, 1, 1], [1, 1, 2, 2])), 6)
    0.57735
    """
    information = variation_of_information(overlap, background="ignore").total
    error = adapted_rand_error(overlap, background="ignore", form="snemi3d")
    return math.sqrt(information * max(error, 0.0))
