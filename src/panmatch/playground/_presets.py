"""Scenes to begin with: each shows one thing about matching."""

from __future__ import annotations

from dataclasses import dataclass, replace

from panmatch.playground._dense_cells import dense_cells
from panmatch.playground._published_links import read_published
from panmatch.playground._scene import Scene
from panmatch.playground._shapes import Disc, Ellipse, Point, Stroke
from panmatch.playground._states import State, View


@dataclass(frozen=True, slots=True)
class Preset:
    """A named scene, with one or two sentences on what to look at."""

    id: str
    title: str
    about: str
    state: State


# Both figures as their links have them.
_STRATEGIES_FIGURE = (
    "refs=0.769,0.482,0.125;0.474,0.453,0.105;0.128,0.342,0.099;0.148,0.675,0.101"
    "&preds=0.734,0.406,0.056;0.8,0.59,0.055;0.843,0.417,0.05;0.8,0.321,0.017;0.709,0.559,0.028;"
    "0.537,0.551,0.028;0.462,0.399,0.089;0.125,0.183,0.083;0.139,0.507,0.108"
    "&matcher=maximize-merge&mode=scene&sap=0&autc=1&asq=1&arq=1"
)
_CURVE_FIGURE = (
    "refs=0.238,0.401,0.092;0.731,0.421,0.117;0.485,0.416,0.075"
    "&preds=0.234,0.542,0.092;0.733,0.455,0.108;0.488,0.482,0.073"
    "&matcher=greedy&mode=scene&sap=0"
)


def _at(threshold: float, state: State) -> State:
    return replace(state, view=replace(state.view, threshold=threshold))


def _rod(x: float, top: float, bottom: float) -> Stroke:
    return Stroke(((x, top), (x, bottom)), width=80)


_ONE_TO_ONE = State(
    Scene(
        reference=(
            Disc(95, 105, 58),
            Ellipse(255, 95, 66, 48, 15),
            Disc(420, 105, 55),
            Ellipse(130, 265, 62, 46, -20),
            Disc(290, 255, 52),
            Ellipse(515, 250, 50, 62, 10),
        ),
        prediction=(
            Disc(100, 110, 56),
            Ellipse(260, 100, 60, 50, 25),
            Disc(452, 114, 50),
            Ellipse(122, 262, 58, 48, -10),
            Ellipse(512, 244, 54, 57, 0),
            Disc(395, 285, 36),
        ),
    )
)

_MANY_TO_ONE = State(
    Scene(
        reference=(Ellipse(205, 181, 150, 112, -12), Ellipse(465, 181, 82, 100, 8)),
        prediction=(
            Ellipse(158, 190, 100, 92, -12),
            Ellipse(295, 128, 44, 58, 20),
            Ellipse(300, 228, 36, 36, 0),
            Disc(238, 268, 22),
            Ellipse(470, 178, 78, 96, 4),
        ),
    ),
    View(strategy="many-to-one/merge/seed"),
)

_ONE_TO_MANY = State(
    Scene(
        reference=(
            Ellipse(96, 181, 62, 92, 6),
            Ellipse(226, 181, 66, 98, -4),
            Ellipse(356, 181, 62, 90, 5),
            Disc(508, 181, 60),
        ),
        prediction=(
            Stroke(((105, 181), (226, 186), (347, 181)), width=176),
            Disc(514, 186, 58),
        ),
    ),
    View(strategy="one-to-many/best", threshold=0.2),
)

_SAME_ID = State(
    Scene(
        reference=(Disc(130, 181, 66), Disc(330, 120, 56), Disc(330, 242, 56), Disc(500, 181, 60)),
        prediction=(Disc(140, 186, 64), Disc(338, 248, 54), Disc(338, 126, 54), Disc(494, 176, 58)),
    ),
    View(strategy="same-id", compared=("same-id", "one-to-one/optimal")),
)

_GREEDY_OR_OPTIMAL = State(
    Scene(
        reference=(
            _rod(158, 110, 250),
            _rod(242, 110, 250),
            _rod(392, 110, 250),
            _rod(476, 110, 250),
        ),
        prediction=(
            _rod(112, 110, 250),
            _rod(196, 110, 250),
            _rod(438, 110, 250),
            _rod(522, 110, 250),
        ),
    ),
    View(
        strategy="one-to-one/greedy",
        compared=("one-to-one/greedy", "one-to-one/optimal"),
        threshold=0.2,
    ),
)

_MERGE_OR_OPTIMAL = State(
    Scene(
        reference=(Disc(160, 181, 70), Disc(348, 181, 116)),
        prediction=(Disc(136, 194, 42), Disc(242, 200, 64), Disc(425, 189, 80)),
    ),
    View(
        strategy="many-to-one/merge/seed",
        compared=("many-to-one/merge/seed", "many-to-one/optimal/seed"),
        threshold=0.3,
    ),
)

_KNIFE_EDGE = State(
    Scene(
        reference=(Disc(146, 173, 80), Disc(426, 173, 80)),
        prediction=(Disc(180.4, 194.15, 74), Disc(459.7, 195.25, 74)),
    )
)

_GATES = State(
    Scene(
        reference=(Disc(165, 181, 115), Disc(440, 181, 110)),
        prediction=(
            Ellipse(128, 181, 78, 108, 0),
            Ellipse(240, 150, 30, 58, -15),
            Disc(228, 246, 26),
            Ellipse(385, 181, 52, 92, 0),
            Ellipse(497, 181, 52, 92, 0),
        ),
    ),
    View(
        strategy="many-to-one/merge/seed",
        compared=("many-to-one/merge/seed", "many-to-one/merge/edge", "one-to-one/optimal"),
    ),
)

_LESION: tuple[Point, ...] = (
    (97, 250), (142, 205), (197, 190), (239, 150), (292, 140), (337, 170), (387, 165), (432, 125),
)  # fmt: skip
_FRAGMENTED_LESION = State(
    Scene(
        reference=(
            Stroke(_LESION, width=74),
            Disc(97, 110, 24),
            Disc(477, 250, 28),
            Ellipse(307, 285, 34, 20, 15),
        ),
        prediction=(
            Stroke(((102, 243), (142, 206), (195, 190)), width=62),
            Stroke(((239, 152), (292, 141), (335, 168)), width=66),
            Stroke(((389, 163), (427, 130)), width=56),
            Disc(101, 107, 22),
            Ellipse(311, 288, 30, 20, 10),
            Disc(207, 290, 16),
            Disc(522, 110, 18),
        ),
    ),
    View(strategy="many-to-one/merge/seed", threshold=0.2),
)

_PARTS = State(
    Scene(
        reference=(
            Disc(115, 181, 82, (0.6, 0.25)),
            Disc(300, 181, 82, (0.6, 0.25)),
            Disc(485, 181, 82, (0.6, 0.25)),
        ),
        prediction=(
            Disc(118, 183, 81, (0.6, 0.25)),
            Disc(303, 183, 81, (0.85, 0.6)),
            Disc(488, 183, 81),
        ),
    ),
    View(parts=True),
)

_DENSE_CELLS = State(dense_cells(), View(threshold=0.3))

_REGIONS = State(
    Scene(
        reference=(Disc(130, 190, 70), Disc(300, 150, 62), Disc(475, 200, 72)),
        prediction=(
            Stroke(((125, 192), (298, 152)), width=112),
            Disc(470, 196, 66),
            Disc(385, 290, 22),
        ),
    ),
    View(
        strategy="one-to-one/optimal",
        compared=("one-to-one/optimal", "many-to-one/merge/seed", "union"),
        regions=True,
        voronoi=True,
    ),
)
PRESETS: tuple[Preset, ...] = (
    Preset(
        "figure-strategies",
        "Figure: strategies",
        "A published figure. One object in pieces, one with a small companion, and two objects "
        "that share two predictions: each strategy makes something else of it.",
        _at(0.1, read_published(_STRATEGIES_FIGURE)[0]),
    ),
    Preset(
        "figure-curve",
        "Figure: the threshold curve",
        "A published figure. Three pairs of different quality: PQ drops each time the threshold "
        "passes the IoU of a pair, and AUTC is the area below.",
        read_published(_CURVE_FIGURE)[0],
    ),
    Preset(
        "one-to-one",
        "One-to-one",
        "Every object overlaps one prediction at most, so that all strategies agree: four "
        "matched pairs, one pair below the threshold, one missed object and one spurious "
        "prediction. Move the threshold to let the weak pair pass.",
        _ONE_TO_ONE,
    ),
    Preset(
        "many-to-one",
        "Many-to-one: a fragmented object",
        "The left object is found in four pieces. One-to-one counts three of them as false "
        "positives; many-to-one takes all of them together.",
        _MANY_TO_ONE,
    ),
    Preset(
        "one-to-many",
        "One-to-many: objects under one prediction",
        "One prediction covers three objects that touch. One-to-one finds one of them, "
        "one-to-many all three, each with its own IoU.",
        _ONE_TO_MANY,
    ),
    Preset(
        "same-id",
        "Same id",
        "Objects keep their numbers, as after tracking. The two in the middle fit well, but have "
        "each other's number: by identity they are wrong, by overlap nothing is.",
        _SAME_ID,
    ),
    Preset(
        "greedy-or-optimal",
        "Greedy against optimal",
        "Greedy takes the best pair of each group, in its middle, and leaves both its neighbours "
        "without a partner; optimal pairs all of them, for a higher PQ.",
        _GREEDY_OR_OPTIMAL,
    ),
    Preset(
        "merge-or-optimal",
        "Merge against optimal",
        "The middle prediction overlaps both objects. Greedy merge gives it to the left one, with "
        "which its IoU is higher; for PQ it is worth more to the right one.",
        _MERGE_OR_OPTIMAL,
    ),
    Preset(
        "knife-edge",
        "A knife edge at the threshold",
        "Two pairs that look alike: on the left IoU is exactly 0.5, which is not greater than the "
        "threshold; on the right a single pixel more makes a match. The score of one threshold can "
        "hang on that, AUTC cannot.",
        _KNIFE_EDGE,
    ),
    Preset(
        "gates",
        "Seed gate against edge gate",
        "The largest piece of the left object passes the threshold. The seed gate then takes the "
        "others along; the edge gate refuses them, as none passes by itself. The right object has "
        "two halves and no seed, and stays unmatched under both.",
        _GATES,
    ),
    Preset(
        "dense-cells",
        "Dense cells",
        "Tissue of touching cells, some of which were split, merged or missed; some predictions "
        "are spurious. Compare the strategies over all thresholds.",
        _DENSE_CELLS,
    ),
    Preset(
        "fragmented-lesion",
        "A fragmented lesion",
        "A long lesion found in three pieces, with small ones around it: found, missed and "
        "spurious. One-to-one counts two of the pieces as false positives.",
        _FRAGMENTED_LESION,
    ),
    Preset(
        "parts",
        "Parts",
        "Three objects with nested parts, and outlines that fit equally well: on the left the "
        "parts fit too, in the middle they are too large, on the right they are missing. Only "
        "part-aware quality tells them apart.",
        _PARTS,
    ),
    Preset(
        "regions",
        "Voronoi regions",
        "One prediction spans two objects. The Voronoi regions of the references cut it, and each "
        "piece is matched to the object of its region; without regions both objects are missed.",
        _REGIONS,
    ),
)
START = PRESETS[0].state
