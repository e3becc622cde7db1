"""The page about all public names, written from the package; see docs/reference/api.

Each group below is a stage on the way from label images to answers. Every name of
``panmatch.__all__`` must be in exactly one group.
"""

from __future__ import annotations

from collections.abc import Callable

import panmatch
from panmatch import phantoms, related

INTRODUCTION = """\
# Python API

<!-- Written by docs/writers/api.py. -->

`import panmatch as pm` is all you need for most work. Voxels are read once, into a small graph
(`Overlap`). Matchings, tallies and curves are arithmetic on that graph. Importing panmatch loads
numpy and little else; what needs an extra is loaded when you first use it, and an error names the
extra if it is missing.

Every name has a page with its signature, its parameters, and an example that is run as a test.
D1 to D18 are [the definitions](../../explanation/definitions.md).

Three more packages are meant for you: [`panmatch.related`](related.md) has other metrics of the
field, [`panmatch.phantoms`](phantoms.md) makes synthetic scenes with known mistakes, and
[`panmatch.torch`](torch.md) has the metric for training loops.
"""

RELATED = """\
# panmatch.related

<!-- Written by docs/writers/api.py. -->

Other people's metrics. [Related metrics](../../explanation/related.md) says what each of them
chooses, and where published programs differ from ours. A spec can ask for most of them under
[`related`](../spec-keys.md#related).

```{eval-rst}
.. currentmodule:: panmatch.related

"""
SIMULATED_MODELS = """\
.. py:data:: SIMULATED_MODELS
   :type: dict[str, SimulatedModel]

   One simulated model of each kind, by the name of its habit.
"""
PHANTOMS = """\
# panmatch.phantoms

<!-- Written by docs/writers/api.py. -->

Synthetic scenes with known mistakes. The demo, the tutorials, the tests and the benchmarks use
them, and they let you try a spec before you have predictions.

```{eval-rst}
.. currentmodule:: panmatch.phantoms

"""
TORCH = """\
# panmatch.torch

<!-- Written by docs/writers/api.py. -->

A torchmetrics metric for training loops: [how to use it](../../how-to/training.md). It needs
`pip install "panmatch[torch]"`.

```{eval-rst}
.. currentmodule:: panmatch.torch

.. autoclass:: PanopticMatching
   :members: update, compute

```
"""
# What others of its names are for: specs, and programs that build on these scores.
BEHIND_SCORES = ("find_lesions", "resolve_related", "share", "single")

GROUPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "From files and arrays to answers": (
        "One call for one case or for folders, an object for many, and what they return.",
        (
            "evaluate", "evaluate_folders", "Evaluator", "Spec", "Result", "advise", "Advice",
            "compare", "Comparison", "rank", "Ranking", "power", "PowerAnalysis",
            "compare_raters", "compare_rater_folders", "RaterComparison",
            "protocols",
        ),
    ),
    "Count": (
        "The one pass over the voxels, and the graph that it leaves.",
        (
            "count_overlaps", "count_region_overlaps", "count_part_overlaps",
            "count_class_overlaps", "Overlap", "ClassOverlaps", "save_overlap", "load_overlap",
            "read_coco_instances", "coco_overlaps", "read_confidences", "confidences_from_image",
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
    "Score with confidence": (
        "Every threshold and confidence cut at once: average precision, FROC, the best cut.",
        (
            "surface", "Surface", "add_surfaces", "CutCurve", "BestCut", "Froc", "calibration",
            "Calibration", "surface_interval", "Interval",
        ),
    ),
    "Measure": (
        "Dice, distances and volumes of every object.",
        ("measure", "measure_whole", "Measurements", "Metric", "all_metrics", "Average"),
    ),
    "Find out what went wrong": (
        "What each kind of mistake, and each single one, costs; and what the graph looks like.",
        (
            "error_budget", "class_error_budgets", "ErrorBudget", "find_mistakes", "Mistake",
            "graph_structure", "GraphStructure", "ComponentCounts",
        ),
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


MORE = """\
```{toctree}
:hidden:

related
phantoms
torch
```
"""


def api_page() -> str:
    """Return the page as Markdown."""
    _check_groups()
    sections = [_section(title, *group) for title, group in GROUPS.items()]
    return "\n".join([INTRODUCTION, *sections, VERSION, MORE])


def related_page() -> str:
    """Return the page about `panmatch.related` as Markdown."""
    directives = [f".. autofunction:: {name}\n" for name in score_names()]
    return RELATED + "\n".join(directives) + "```\n"


def phantoms_page() -> str:
    """Return the page about `panmatch.phantoms` as Markdown."""
    directives = [
        f".. autoclass:: {name}\n   :members:\n"
        if name[0].isupper()
        else f".. autofunction:: {name}\n"
        for name in sorted(phantoms.__all__, key=lambda name: (not name.islower(), name))
        if name != "SIMULATED_MODELS"
    ]
    return PHANTOMS + "\n".join([*directives, SIMULATED_MODELS]) + "```\n"


def score_names() -> list[str]:
    """Return the functions of `panmatch.related` that compute scores."""
    return [name for name in related.__all__ if name.islower() and name not in BEHIND_SCORES]


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


PAGES: dict[str, Callable[[], str]] = {
    "index": api_page,
    "related": related_page,
    "phantoms": phantoms_page,
    "torch": lambda: TORCH,
}
