"""The decision trees of docs/choosing, and the scene of every leaf with its numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import panmatch as pm
from docs.writers.scene_svg import scene_svg
from docs.writers.tree_svg import Leaf, Question, tree_svg
from panmatch.playground import PRESETS, STRATEGIES, State, exact_overlap

THRESHOLDS = (0.1, 0.25, 0.5)
ALWAYS: tuple[pm.Strategy, ...] = (pm.OneToOne(), pm.ManyToOne(), pm.OneToMany(solver="optimal"))
UNION = "union in Voronoi regions"
BY_ID = {preset.id: preset for preset in PRESETS}


@dataclass(frozen=True, slots=True)
class Ending:
    """A leaf of a tree, and the scene that shows it."""

    heading: str  # of its scene
    title: str  # in the tree
    detail: str
    scene: str  # a preset of the playground
    advice: str  # in a sentence or two
    section: str  # of docs/choosing/index.md
    look: str = "one-to-one/optimal"  # the strategy whose matching is drawn
    threshold: float = 0.5

    @property
    def anchor(self) -> str:
        """Of its heading."""
        return self.heading.lower().replace(" ", "-").replace(",", "")

    @property
    def leaf(self) -> Leaf:
        """As the tree has it."""
        return Leaf(self.title, self.detail, f"scenes.html#{self.anchor}")


MASKS = Ending(
    "Masks without objects",
    "union, in Voronoi regions",
    "Scores the foreground of each reference. Report it beside one-to-one, never alone.",
    "regions",
    "Use `union` in Voronoi regions if nobody asked the prediction to separate objects. The "
    "regions come from the reference and do the separating.",
    "regions",
    "union",
)
IDS = Ending(
    "Ids that mean something",
    "same-id, beside one-to-one",
    "The gap between the two is what wrong ids cost.",
    "same-id",
    "Use `same-id` if an id has a meaning, such as the level of a vertebra or the number of a "
    "track.",
    "when-ids-mean-something",
    "same-id",
)
PIECES = Ending(
    "Pieces of one object",
    "many-to-one, seed gate",
    "Report one-to-one beside it: the gap is what splits cost.",
    "split-lesion",
    "Use `many-to-one` if an object that was found in pieces was found.",
    "when-a-fragment-is-one-object",
    "many-to-one/merge/seed",
    0.25,
)
MERGED = Ending(
    "Objects under one prediction",
    "one-to-many (optimal), τ below 0.5",
    "From τ = 0.5 on it equals one-to-one.",
    "one-to-many",
    "Use `one-to-many` with the optimal solver if it is enough that each object was seen.",
    "when-merged-objects-are-acceptable",
    "one-to-many/optimal",
    0.25,
)
WHOLE = Ending(
    "Objects that must be found one by one",
    "Otherwise: one-to-one",
    "Splits and merges are mistakes, and cost what they should.",
    "one-to-one",
    "Use `one-to-one` if every object must be found whole and separate. It is what most "
    "published PQ means.",
    "when-a-fragment-is-one-object",
)
SMALL = Ending(
    "Small objects",
    "τ = 0.1, and recall by size",
    "AUTC beside it, to compare models.",
    "small-objects",
    "Use τ = 0.1 if an outline that is one voxel too wide would halve the IoU of many objects.",
    "small-objects",
    threshold=0.1,
)
NOISY = Ending(
    "Outlines that experts disagree on",
    "τ below the raters' own IoU",
    "Score one rater against another first.",
    "noisy-reference",
    "Use a threshold below the IoU that two experts reach on the same object.",
    "noisy-references",
    threshold=0.25,
)
PUBLISHED = Ending(
    "Numbers that others have published",
    "their τ, mostly 0.5, strictly above",
    "Or reproduce their program: --protocol.",
    "knife-edge",
    "Use the threshold of the number you compare with, and the same comparison: here an IoU of "
    "exactly 0.5 is not a match.",
    "when-a-threshold-below-05-is-right",
)
FEW = Ending(
    "A handful of objects",
    "the whole curve, and every object",
    "Each step of PQ is one object. No average says more.",
    "figure-curve",
    "Show the curve, and list the objects, if there are fewer than about twenty.",
    "autc-and-when-not",
)
MANY = Ending(
    "Many objects and no reason for a threshold",
    "Otherwise: AUTC, and PQ at 0.5",
    "AUTC depends on no threshold.",
    "dense-cells",
    "Use AUTC to compare models if nothing in your question names a threshold, and give PQ at 0.5 "
    "beside it.",
    "autc-and-when-not",
)
PARTS = Ending(
    "Objects with parts",
    "PartPQ, beside PQ",
    "Parts change the quality of a match, never who is matched.",
    "parts",
    "Report PartPQ beside PQ if the parts of an object are labelled.",
    "parts",
)
PLAIN = Ending(
    "Objects without parts",
    "Otherwise: PQ",
    "With SQ, RQ, TP, FP and FN.",
    "many-to-one",
    "PQ by IoU is all you need if objects have no parts.",
    "what-to-report",
)
FILLED = Ending(
    "References that fill the image",
    "",
    "",
    "no-gaps",
    "Leave regions out if references leave no gaps. Every prediction that covers the image would "
    "score 1.",
    "regions",
    "union",
)

STRATEGY_TREE = (
    Question("Is the prediction only a mask, without objects?", MASKS.leaf),
    Question("Does an object's id mean something, such as a level or a track?", IDS.leaf),
    Question("Has an object been found if it was found in pieces?", PIECES.leaf),
    Question("Is it enough that an object was seen, even as part of a larger one?", MERGED.leaf),
)
THRESHOLD_TREE = (
    Question("Would an outline one voxel too wide halve the IoU of many objects?", SMALL.leaf),
    Question("Would two experts draw the outlines differently?", NOISY.leaf),
    Question("Must the number compare with published ones?", PUBLISHED.leaf),
    Question("Are there fewer than about twenty objects in all?", FEW.leaf),
)
PARTS_TREE = (Question("Are parts of the objects labelled on both sides?", PARTS.leaf),)
ENDINGS = (
    MASKS, FILLED, IDS, PIECES, MERGED, WHOLE, SMALL, NOISY, PUBLISHED, FEW, MANY, PARTS,
)  # fmt: skip

INTRODUCTION = """\
# A scene for every answer

<!-- Written by docs/writers/choosing.py. -->

Each scene is one leaf of the [decision trees](index.md#the-decision-trees), with PQ under every
strategy. Blue is the reference, yellow the prediction, green where they agree. Pale objects have no
match under the strategy in bold. The command below a scene opens it in the
[playground](../how-to/playground.md): drag an object, and see what each choice makes of it.
"""


def strategy_tree() -> str:
    """Return the tree that ends at strategies."""
    return tree_svg("Which strategy? A decision tree.", STRATEGY_TREE, WHOLE.leaf)


def threshold_tree() -> str:
    """Return the tree that ends at thresholds and areas."""
    return tree_svg("Which threshold? A decision tree.", THRESHOLD_TREE, MANY.leaf)


def parts_tree() -> str:
    """Return the tree about parts."""
    plain = Leaf(PLAIN.title, PLAIN.detail, f"index.html#{PLAIN.section}")
    return tree_svg("Parts? A decision tree.", PARTS_TREE, plain)


def scenes_page() -> str:
    """Return the page with a scene for every leaf, as Markdown."""
    return "\n".join([INTRODUCTION, *map(_section, ENDINGS)])


def scene_picture(ending: Ending) -> str:
    """Return the scene of a leaf."""
    preset = BY_ID[ending.scene]
    strategy = STRATEGIES[ending.look]
    scene = preset.state.scene
    assert scene is not None
    overlap = _overlaps(ending.scene)["in regions" if strategy.needs_regions else "whole"]
    return scene_svg(
        scene,
        pm.match(overlap, strategy, ending.threshold),
        title=preset.title,
        regions=preset.state.view.voronoi,
    )


def _section(ending: Ending) -> str:
    preset = BY_ID[ending.scene]
    lines = [
        f"## {ending.heading}",
        "",
        f"![{preset.title}](images/{ending.scene}.svg)",
        "",
        f"{preset.about.strip()} *Drawn: {_drawn(ending)} at τ = {ending.threshold:g}.*",
        "",
        *_table(ending),
        "",
        f"{ending.advice} [More about this](index.md#{ending.section}).",
        "",
        "```console",
        f"$ panmatch play --link '#{ending.scene}'",
        "```",
        "",
    ]
    return "\n".join(lines)


@cache
def _overlaps(name: str) -> dict[str, pm.Overlap]:
    """Return the overlaps of a scene: with exact areas where the playground shows these."""
    state: State = BY_ID[name].state
    scene = state.scene
    assert scene is not None
    images = scene.label_images()
    if state.view.areas == "analytic":
        return {"whole": exact_overlap(scene)}
    found = {"whole": pm.count_overlaps(*images), "in regions": pm.count_region_overlaps(*images)}
    if scene.has_parts:
        found["parts"] = pm.count_part_overlaps(*images, *scene.part_images())
    return found


def _drawn(ending: Ending) -> str:
    """Return the strategy whose matching is drawn, as tables name it."""
    label = STRATEGIES[ending.look].label
    return UNION if label == "union" else label


def _table(ending: Ending) -> list[str]:
    overlaps = _overlaps(ending.scene)
    curves = {
        strategy.label: pm.curve(overlaps["whole"], strategy)
        for strategy in (*ALWAYS, *([pm.SameId()] if ending is IDS else []))
    }
    if "in regions" in overlaps:
        curves[UNION] = pm.curve(overlaps["in regions"], pm.RegionUnion())
    if "parts" in overlaps:
        curves["one-to-one (optimal), PartPQ"] = pm.curve(overlaps["parts"], quality="parts")
    lines = [
        "| PQ | " + " | ".join(f"τ = {threshold:g}" for threshold in THRESHOLDS) + " | AUTC |",
        "|---|" + "---:|" * (len(THRESHOLDS) + 1),
    ]
    for label, curve in curves.items():
        cells = [f"{curve.at(one).pq:.3f}" for one in THRESHOLDS] + [f"{curve.autc:.3f}"]
        name = f"**{label}**" if label == _drawn(ending) else label
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


PAGES: dict[str, Callable[[], str]] = {
    "choosing/scenes.md": scenes_page,
    "choosing/images/strategy.svg": strategy_tree,
    "choosing/images/threshold.svg": threshold_tree,
    "choosing/images/parts-or-not.svg": parts_tree,
    **{f"choosing/images/{ending.scene}.svg": partial(scene_picture, ending) for ending in ENDINGS},
}
