"""The page about all public names, written from the package: ``make docs`` keeps docs/api/index.md.

Each group below is a stage of the way from label images to answers. A name of ``panmatch.__all__``
that is in no group, or in two, is an error.
"""

from __future__ import annotations

import panmatch

INTRODUCTION = """\
# Python API

Written from the package by `make docs`; a test fails if it is out of date.

`import panmatch as pm` is all you need for most work. Voxels are read once, into a small graph
(`Overlap`). Matchings, tallies and curves are arithmetic on that graph. Importing panmatch loads
numpy and little else; what needs an extra is loaded when you first use it, and an error names the
extra if it is missing.

Every name has a page with its signature, its parameters, and an example that is run as a test.
D1 to D15 are [the definitions](../definitions.md).
"""

GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "From files and arrays to answers": (
        "One call for one case, an object for many, and what they return.",
        ("evaluate", "Evaluator", "Spec", "Result", "compare", "Comparison", "protocols"),
    ),
    "Count": (
        "The one pass over the voxels, and the graph that it leaves.",
        (
            "count_overlaps", "count_region_overlaps", "count_part_overlaps",
            "count_class_overlaps", "Overlap", "ClassOverlaps", "save_overlap", "load_overlap",
        ),
    ),
    "Match": (
        "Who belongs to whom: strategies, and what they choose.",
        (
            "match", "match_classes", "Matching", "OneToOne", "ManyToOne", "OneToMany", "SameId",
            "RegionUnion", "Strategy", "Budget", "Certificate",
        ),
    ),
    "Score": (
        "Counts and qualities at one threshold, and at all of them.",
        (
            "Tally", "curve", "Curve", "tally_classes", "ClassTallies", "class_curves",
            "ClassCurves", "GroupScore", "part_averages",
        ),
    ),
    "Measure": (
        "Dice, distances and volumes of every object.",
        ("measure", "measure_whole", "Measurements", "Metric", "all_metrics", "Average"),
    ),
    "Find out what went wrong": (
        "What each kind of mistake, and each single one, costs.",
        ("error_budget", "class_error_budgets", "ErrorBudget", "find_mistakes", "Mistake"),
    ),
    "Say what labels mean": (
        "Classes, instances and parts in the encodings that people use.",
        (
            "from_labels", "from_maps", "from_segments", "from_cityscapes",
            "from_panoptic_parts", "LabelGroup", "SegmentClass", "Panoptic",
        ),
    ),
    "Errors and version": ("", ("PanmatchError", "PanmatchWarning", "__version__")),
}  # fmt: skip

VERSION = """\
```{py:data} panmatch.__version__
:type: str

The version of the package.

    >>> import panmatch as pm
    >>> pm.__version__.count(".")
    2
```
"""


def api_page() -> str:
    """Return the page as Markdown."""
    _check_groups()
    sections = [_section(title, *group) for title, group in GROUPS.items()]
    return "\n".join([INTRODUCTION, *sections, VERSION])


def _check_groups() -> None:
    listed = [name for _, names in GROUPS.values() for name in names]
    if sorted(listed) != sorted(panmatch.__all__):
        differing = sorted(set(listed) ^ set(panmatch.__all__))
        raise ValueError(
            f"GROUPS and panmatch.__all__ differ, or GROUPS has a name twice: {differing}"
        )


def _section(title: str, about: str, names: tuple[str, ...]) -> str:
    lines = [f"## {title}", "", *([about, ""] if about else [])]
    lines += ["```{eval-rst}", ".. currentmodule:: panmatch", "", ".. autosummary::"]
    lines += ["   :toctree: generated", ""]
    lines += [f"   {name}" for name in names if name != "__version__"]
    return "\n".join([*lines, "```", ""])


if __name__ == "__main__":
    print(api_page(), end="")
