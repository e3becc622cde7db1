"""Where panoptica 2.1.7 is wrong, or leaves open what is right."""

from __future__ import annotations

from typing import NamedTuple


class Quirk(NamedTuple):
    """What panoptica does, with ``quirks=True`` here too, and what happens without."""

    where: str
    theirs: str
    ours: str


QUIRKS: tuple[Quirk, ...] = (
    Quirk(
        "labels of reference and prediction that add up to 256 or 65,536",
        "look like background where images are cropped, so that objects beyond all others are lost",
        "are objects like any other",
    ),
    Quirk(
        "distances of whole masks",
        "are in voxels, whatever the spacing; NSD has a tolerance of half a voxel",
        "are in the unit of the spacing; NSD has the smallest step as tolerance, as for objects",
    ),
    Quirk(
        "images of SimpleITK",
        "the spacing is in the order x, y, z, but the array is z, y, x",
        "spacing and array are in one order",
    ),
    Quirk(
        "spacing of NIfTI headers",
        "single precision: 0.85 is 0.8500000238418579",
        "the shortest decimal with that single precision: 0.85",
    ),
    Quirk(
        "`MaxBipartiteMatching` where several matchings have the greatest sum",
        "takes the one that scipy finds",
        "takes the one with more pairs, then with more IoU; the sum is the same",
    ),
    Quirk(
        "groups with parts",
        "equal numbers of components belong together, whichever thing they lie in; all labels from "
        "2 on are parts; a part in n pieces counts n times, n − 1 of them with 0; where a channel "
        "is empty on one side, the edge case is that of the other side",
        "a voxel belongs to the thing that it lies in; parts are those of the group; a part counts "
        "once; edge cases are those of the side that is empty",
    ),
    Quirk(
        "`OneHotConnectedComponentsInstanceApproximator` without parts",
        "components of different labels that have the same number are one object, and its voxels "
        "count twice; distances of whole masks are those on a line of all voxels",
        "objects are the components of all labels together; also with quirks where regions are "
        "evaluated",
    ),
    Quirk(
        "`per_region_evaluation`: regions",
        "in voxels; a voxel as near to two references goes to either",
        "in the unit of the spacing; it goes to the reference with the smaller label",
    ),
    Quirk(
        "`per_region_evaluation`: references",
        "only those with the labels 1 … n, for n references",
        "all of them",
    ),
    Quirk(
        "`per_region_evaluation`: an empty side",
        "`region_avg_…` is 0, distances included",
        "`region_avg_…` is the value of the edge case",
    ),
    Quirk(
        "`per_region_evaluation`: tables and printed summaries",
        "leave `region_avg_…` out, and aggregators stop with an error",
        "have it; aggregators work, also with quirks",
    ),
    Quirk(
        "a metric that the edge case handler does not know",
        "stops the evaluation where nothing matches (CEDI, HD, HD95, NSD by default)",
        "is NaN where nothing matches; of two masks without overlap it is measured",
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
        "the less the better",
        "the more the better",
    ),
    Quirk(
        "clDSC of an object of which thinning leaves nothing, or where neither skeleton meets the "
        "other object",
        "NaN, and with it every mean",
        "the most central voxel is the skeleton; 0 where neither meets the other object",
    ),
)
"""Every quirk, as a table: where, what panoptica does, and what panmatch does without quirks."""
