"""Where panoptica 2.1.7 is wrong, or its result is arbitrary."""

from __future__ import annotations

from typing import NamedTuple


class Quirk(NamedTuple):
    """What panoptica does, as we do with ``quirks=True``, and what we do without."""

    where: str
    theirs: str
    ours: str


QUIRKS: tuple[Quirk, ...] = (
    Quirk(
        "labels of reference and prediction that add up to 256 or 65,536",
        "are mistaken for background when images are cropped, so objects at the edge can be lost",
        "are objects like any other",
    ),
    Quirk(
        "distances of whole masks",
        "are in voxels, whatever the spacing; NSD has a tolerance of half a voxel",
        "are in the unit of the spacing; the tolerance of NSD is the smallest step, as for objects",
    ),
    Quirk(
        "SimpleITK images",
        "the spacing is in the order x, y, z, but the array is z, y, x",
        "spacing and array have the same order",
    ),
    Quirk(
        "spacing of NIfTI headers",
        "single precision: 0.85 is 0.8500000238418579",
        "the shortest decimal that rounds to it: 0.85",
    ),
    Quirk(
        "`MaxBipartiteMatching` if several matchings have the largest sum",
        "takes the one that scipy finds",
        "takes the one with more pairs, then the one with the higher IoU; the sum is the same",
    ),
    Quirk(
        "groups with parts",
        "components with the same number belong together, whichever thing they lie in; all labels "
        "from 2 on are parts; a part in n pieces counts n times, n − 1 of them with 0; if a "
        "channel is empty on one side, the edge case of the other side applies",
        "a voxel belongs to the thing that it lies in; parts are those of the group; a part counts "
        "once; the edge case of the empty side applies",
    ),
    Quirk(
        "`OneHotConnectedComponentsInstanceApproximator` without parts",
        "components of different labels with the same number are one object, whose voxels count "
        "twice; distances of whole masks are measured along a line of all voxels",
        "objects are the components of all labels together; with quirks, too, if regions are "
        "evaluated",
    ),
    Quirk(
        "`per_region_evaluation`: regions",
        "in voxels; a voxel equally near to two references goes to either",
        "in the unit of the spacing; it goes to the reference with the smaller label",
    ),
    Quirk(
        "`per_region_evaluation`: references",
        "only those with the labels 1 … n, for n references",
        "all of them",
    ),
    Quirk(
        "`per_region_evaluation`: an empty side",
        "`region_avg_…` is 0, even for distances",
        "`region_avg_…` is the value of the edge case",
    ),
    Quirk(
        "`per_region_evaluation`: tables and printed summaries",
        "leave `region_avg_…` out, and aggregators stop with an error",
        "include it; aggregators work, even with quirks",
    ),
    Quirk(
        "a metric that the edge case handler does not know",
        "stops the evaluation if nothing matches (CEDI, HD, HD95, NSD by default)",
        "is NaN if nothing matches; for two masks without overlap it is measured",
    ),
    Quirk(
        "`prec` and `rec` without predictions or references",
        "divide by zero",
        "are NaN",
    ),
    Quirk(
        "a single instance and a `decision_metric` that is a distance",
        "must be 0 for a true positive",
        "is always a true positive, as with any other metric",
    ),
    Quirk(
        "NSD as `matching_metric` or `decision_metric`",
        "lower counts as better",
        "higher is better",
    ),
    Quirk(
        "clDSC of an object that thinning erases, or if neither skeleton meets the other object",
        "NaN, and so is every mean",
        "the most central voxel is the skeleton; 0 if neither meets the other object",
    ),
)
"""Every quirk, as a table: where, what panoptica does, and what panmatch does without quirks."""
