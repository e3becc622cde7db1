"""Panoptic Quality under every matching strategy, at every threshold, exactly.

>>> import numpy as np
>>> import panmatch as pm
>>> reference = np.array([[1, 1, 0, 2, 2], [1, 1, 0, 2, 2]])
>>> prediction = np.array([[5, 5, 0, 7, 8], [5, 0, 0, 7, 8]])
>>> ov = pm.count_overlaps(reference, prediction)
>>> pm.match(ov, "many-to-one", threshold=0.4).tally
Tally(tp=2, fp=0, fn=0, quality=1.75)
>>> round(pm.curve(ov, "many-to-one").autc, 6)
0.5125
"""

from typing import TYPE_CHECKING

from panmatch._lazy import lazy_face
from panmatch.errors import PanmatchError, PanmatchWarning

if TYPE_CHECKING:
    from panmatch import protocols
    from panmatch.datasets import (
        Advice,
        Comparison,
        Evaluator,
        advise,
        compare,
        evaluate,
        evaluate_folders,
    )
    from panmatch.evaluation import Result
    from panmatch.formats import load_overlap, save_overlap
    from panmatch.labels import (
        LabelGroup,
        Panoptic,
        SegmentClass,
        from_cityscapes,
        from_labels,
        from_maps,
        from_panoptic_parts,
        from_segments,
    )
    from panmatch.matching import (
        Budget,
        Certificate,
        ManyToOne,
        Matching,
        OneToMany,
        OneToOne,
        RegionUnion,
        SameId,
        Strategy,
        Tally,
        match,
    )
    from panmatch.overlap import (
        ClassOverlaps,
        Overlap,
        count_class_overlaps,
        count_overlaps,
        count_part_overlaps,
        count_region_overlaps,
    )
    from panmatch.scoring import (
        Average,
        ClassCurves,
        ClassTallies,
        ComponentCounts,
        Curve,
        ErrorBudget,
        GraphStructure,
        GroupScore,
        Measurements,
        Metric,
        Mistake,
        all_metrics,
        class_curves,
        class_error_budgets,
        curve,
        error_budget,
        find_mistakes,
        graph_structure,
        match_classes,
        measure,
        measure_whole,
        part_averages,
        tally_classes,
    )
    from panmatch.spec import Spec

__version__ = "0.1.0"

# Imported on first use: a command that computes nothing then starts without numpy.
__getattr__, __dir__ = lazy_face(
    __name__,
    {
        "panmatch.datasets": (
            "Advice",
            "Comparison",
            "Evaluator",
            "advise",
            "compare",
            "evaluate",
            "evaluate_folders",
        ),
        "panmatch.evaluation": ("Result",),
        "panmatch.formats": ("load_overlap", "save_overlap"),
        "panmatch.labels": (
            "LabelGroup",
            "Panoptic",
            "SegmentClass",
            "from_cityscapes",
            "from_labels",
            "from_maps",
            "from_panoptic_parts",
            "from_segments",
        ),
        "panmatch.matching": (
            "Budget",
            "Certificate",
            "ManyToOne",
            "Matching",
            "OneToMany",
            "OneToOne",
            "RegionUnion",
            "SameId",
            "Strategy",
            "Tally",
            "match",
        ),
        "panmatch.overlap": (
            "ClassOverlaps",
            "Overlap",
            "count_class_overlaps",
            "count_overlaps",
            "count_part_overlaps",
            "count_region_overlaps",
        ),
        "panmatch.scoring": (
            "Average",
            "ClassCurves",
            "ClassTallies",
            "ComponentCounts",
            "Curve",
            "ErrorBudget",
            "GraphStructure",
            "GroupScore",
            "Measurements",
            "Metric",
            "Mistake",
            "all_metrics",
            "class_curves",
            "class_error_budgets",
            "curve",
            "error_budget",
            "find_mistakes",
            "graph_structure",
            "match_classes",
            "measure",
            "measure_whole",
            "part_averages",
            "tally_classes",
        ),
        "panmatch.protocols": ("protocols",),
        "panmatch.spec": ("Spec",),
    },
)

__all__ = [
    "Advice",
    "Average",
    "Budget",
    "Certificate",
    "ClassCurves",
    "ClassOverlaps",
    "ClassTallies",
    "Comparison",
    "ComponentCounts",
    "Curve",
    "ErrorBudget",
    "Evaluator",
    "GraphStructure",
    "GroupScore",
    "LabelGroup",
    "ManyToOne",
    "Matching",
    "Measurements",
    "Metric",
    "Mistake",
    "OneToMany",
    "OneToOne",
    "Overlap",
    "PanmatchError",
    "PanmatchWarning",
    "Panoptic",
    "RegionUnion",
    "Result",
    "SameId",
    "SegmentClass",
    "Spec",
    "Strategy",
    "Tally",
    "__version__",
    "advise",
    "all_metrics",
    "class_curves",
    "class_error_budgets",
    "compare",
    "count_class_overlaps",
    "count_overlaps",
    "count_part_overlaps",
    "count_region_overlaps",
    "curve",
    "error_budget",
    "evaluate",
    "evaluate_folders",
    "find_mistakes",
    "from_cityscapes",
    "from_labels",
    "from_maps",
    "from_panoptic_parts",
    "from_segments",
    "graph_structure",
    "load_overlap",
    "match",
    "match_classes",
    "measure",
    "measure_whole",
    "part_averages",
    "protocols",
    "save_overlap",
    "tally_classes",
]
