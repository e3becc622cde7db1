"""From matchings to numbers: curves, scores of classes, and values of single objects."""

from typing import TYPE_CHECKING

from panmatch._lazy import lazy_face
from panmatch.scoring._curve import Curve, Curves, KnownSteps, areas_of, curve, curves

if TYPE_CHECKING:
    from panmatch.scoring._aligned_objects import ObjectGroup, align_raters
    from panmatch.scoring._calibration import Calibration, calibration
    from panmatch.scoring._class_scores import (
        ClassCurves,
        ClassTallies,
        GroupScore,
        class_curves,
        match_classes,
        part_averages,
        tally_classes,
    )
    from panmatch.scoring._cut_curve import (
        CPM_RATES,
        RECALLS,
        BestCut,
        CutCurve,
        CutScore,
        Froc,
        Interpolation,
    )
    from panmatch.scoring._error_budget import (
        CHOICES,
        LOSS_LOOKS,
        REPAIRS,
        ErrorBudget,
        LossLook,
        Repair,
        RepairedOverlaps,
        RepairGains,
        budget_after_repairs,
        error_budget,
    )
    from panmatch.scoring._graph_structure import (
        COMPONENT_KINDS,
        MEANINGS,
        ComponentCounts,
        ComponentKind,
        ComponentMeaning,
        GraphComponents,
        GraphStructure,
        graph_structure,
    )
    from panmatch.scoring._mask_measure import MaskMeasurer
    from panmatch.scoring._measure import Measurer, measure, measure_whole, need_voxels
    from panmatch.scoring._measurements import (
        Average,
        Column,
        Measurements,
        ObjectTable,
        TableRows,
    )
    from panmatch.scoring._metrics import Metric, all_metrics, resolve_metrics
    from panmatch.scoring._mistakes import Mistake, find_mistakes
    from panmatch.scoring._objects import (
        ComparedObjects,
        MeasureOptions,
        Penalty,
        measure_options,
    )
    from panmatch.scoring._reference_choice import (
        ChoiceBounds,
        ReferenceChoices,
        choose_references,
    )
    from panmatch.scoring._rows import ObjectRows
    from panmatch.scoring._surface import COCO_THRESHOLDS, Surface, add_surfaces, surface
    from panmatch.scoring._wrong_class import class_error_budgets, overlaps_by_right_class
else:  # a first score needs none of these, and importing panmatch must be quick
    __getattr__, __dir__ = lazy_face(
        __name__,
        {
            "panmatch.scoring._aligned_objects": ("ObjectGroup", "align_raters"),
            "panmatch.scoring._calibration": ("Calibration", "calibration"),
            "panmatch.scoring._class_scores": (
                "ClassCurves",
                "ClassTallies",
                "GroupScore",
                "class_curves",
                "match_classes",
                "part_averages",
                "tally_classes",
            ),
            "panmatch.scoring._cut_curve": (
                "CPM_RATES",
                "RECALLS",
                "BestCut",
                "CutCurve",
                "CutScore",
                "Froc",
                "Interpolation",
            ),
            "panmatch.scoring._error_budget": (
                "CHOICES",
                "LOSS_LOOKS",
                "REPAIRS",
                "ErrorBudget",
                "RepairedOverlaps",
                "budget_after_repairs",
                "LossLook",
                "Repair",
                "RepairGains",
                "error_budget",
            ),
            "panmatch.scoring._graph_structure": (
                "COMPONENT_KINDS",
                "MEANINGS",
                "ComponentCounts",
                "ComponentKind",
                "ComponentMeaning",
                "GraphComponents",
                "GraphStructure",
                "graph_structure",
            ),
            "panmatch.scoring._mask_measure": ("MaskMeasurer",),
            "panmatch.scoring._measure": ("Measurer", "measure", "measure_whole", "need_voxels"),
            "panmatch.scoring._measurements": (
                "Average",
                "Column",
                "Measurements",
                "ObjectTable",
                "TableRows",
            ),
            "panmatch.scoring._metrics": ("Metric", "all_metrics", "resolve_metrics"),
            "panmatch.scoring._mistakes": ("Mistake", "find_mistakes"),
            "panmatch.scoring._objects": (
                "ComparedObjects",
                "MeasureOptions",
                "Penalty",
                "measure_options",
            ),
            "panmatch.scoring._reference_choice": (
                "ChoiceBounds",
                "ReferenceChoices",
                "choose_references",
            ),
            "panmatch.scoring._rows": ("ObjectRows",),
            "panmatch.scoring._surface": (
                "COCO_THRESHOLDS",
                "Surface",
                "add_surfaces",
                "surface",
            ),
            "panmatch.scoring._wrong_class": ("class_error_budgets", "overlaps_by_right_class"),
        },
    )

__all__ = [
    "CHOICES",
    "COCO_THRESHOLDS",
    "COMPONENT_KINDS",
    "CPM_RATES",
    "LOSS_LOOKS",
    "MEANINGS",
    "RECALLS",
    "REPAIRS",
    "Average",
    "BestCut",
    "Calibration",
    "ChoiceBounds",
    "ClassCurves",
    "ClassTallies",
    "Column",
    "ComparedObjects",
    "ComponentCounts",
    "ComponentKind",
    "ComponentMeaning",
    "Curve",
    "Curves",
    "CutCurve",
    "CutScore",
    "ErrorBudget",
    "Froc",
    "GraphComponents",
    "GraphStructure",
    "GroupScore",
    "Interpolation",
    "KnownSteps",
    "LossLook",
    "MaskMeasurer",
    "MeasureOptions",
    "Measurements",
    "Measurer",
    "Metric",
    "Mistake",
    "ObjectGroup",
    "ObjectRows",
    "ObjectTable",
    "Penalty",
    "ReferenceChoices",
    "Repair",
    "RepairGains",
    "RepairedOverlaps",
    "Surface",
    "TableRows",
    "add_surfaces",
    "align_raters",
    "all_metrics",
    "areas_of",
    "budget_after_repairs",
    "calibration",
    "choose_references",
    "class_curves",
    "class_error_budgets",
    "curve",
    "curves",
    "error_budget",
    "find_mistakes",
    "graph_structure",
    "match_classes",
    "measure",
    "measure_options",
    "measure_whole",
    "need_voxels",
    "overlaps_by_right_class",
    "part_averages",
    "resolve_metrics",
    "surface",
    "tally_classes",
]
