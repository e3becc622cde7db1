"""A migrated spec gives what panoptica gives with the configuration: counts equal, PQ to 1e-9."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage

import panmatch as pm
from panmatch import phantoms
from panmatch.evaluation._class_case import class_cases
from panmatch.evaluation._sides import Images
from panmatch.spec import Spec, read_panoptica, spec_from_panoptica
from panmatch.spec._panoptica_yaml import TAGS
from tests.peers.asking import PEER, Labels, ask_peer, shipped_configs

Scene = tuple[Labels, Labels]
Mask = npt.NDArray[np.bool_]
SCENES = 20  # for every configuration
LEAST_MATCHES = 20  # of a class, over all of them: enough to tell strategies apart

pytestmark = pytest.mark.skipif(not PEER.exists(), reason=f"panoptica is not installed in {PEER}")


def semantic(seed: int, dimensions: int = 3) -> Scene:
    """Return labels 1 to 3 in clouds that touch at faces and corners, and others much like them."""
    rng = np.random.default_rng(seed)
    shape = (22, 24, 20)[:dimensions] if dimensions == 3 else (70, 60)
    field, other = (ndimage.gaussian_filter(rng.normal(size=shape), 1.5) for _ in range(2))
    noisy = field + (0.2 + 0.1 * (seed % 4)) * other
    kinds = [ndimage.gaussian_filter(rng.normal(size=shape), 4) for _ in range(3)]
    kind = np.argmax(kinds, axis=0) + 1
    above = np.quantile(field, 0.88)
    return np.where(field > above, kind, 0), np.where(noisy > above, kind, 0)


def flat(seed: int) -> Scene:
    return semantic(seed, 2)


def binary(seed: int) -> Scene:
    reference, prediction = semantic(seed)
    return np.minimum(reference, 1), np.minimum(prediction, 1)


def two_kinds(seed: int) -> Scene:
    reference, prediction = semantic(seed)
    return np.minimum(reference, 2), np.minimum(prediction, 2)


def spine(seed: int) -> Scene:
    """Return ids of four classes: 1–10, 101–110, 201–210, and 26, which is there once."""
    reference = phantoms.tissue((24, 26, 20), 16, seed=seed)
    prediction = phantoms.shift(reference, (1, seed % 3 - 1, 1))
    prediction = phantoms.split(prediction, 2, ids=(2, 5, 9))
    of_class = {1: 26} | {i: (1, 101, 201)[i % 3] + i // 3 for i in range(2, 17)}
    known = np.array([0, *(of_class[i] for i in range(1, 17))])
    pieces = np.arange(phantoms.split(reference, 2, ids=(2, 5, 9)).max() + 1)
    pieces = np.array([0 if i == 0 else of_class.get(i, (9, 109, 209)[i % 3]) for i in pieces])
    return known[reference], pieces[prediction]


def contested(seed: int) -> Scene:
    """Return two tissues that have nothing to do with each other: every object has rivals."""
    shape = (24, 26, 20)
    return phantoms.tissue(shape, 12, seed=seed), phantoms.tissue(shape, 15, seed=seed + 1000)


def vertebrae(seed: int) -> Scene:
    """Return ids up to 26 whose numbers say nothing about partners."""
    reference = phantoms.tissue((24, 26, 20), 12, seed=seed)
    prediction = phantoms.shift(reference, (1, seed % 3 - 1, 1))
    prediction = phantoms.split(prediction, 2, ids=(2, 5, 9))
    return reference, phantoms.relabel(prediction, seed=seed, high=26)


def same_ids(seed: int) -> Scene:
    """Return objects with the ids of their partners, some of which are missed or spurious."""
    reference = phantoms.tissue((24, 26, 20), 14, seed=seed)
    prediction = phantoms.shift(reference, (1, 1, seed % 2))
    return np.where(reference == 3, 0, reference), np.where(prediction == 5, 0, prediction)


def regions(seed: int) -> Scene:
    """Return blobs, and predictions no voxel of which is equally near to two of them."""
    for attempt in range(seed * 100, seed * 100 + 100):
        blobs = phantoms.blobs((22, 24, 20), 6, radius=(2, 3.5), gap=2, seed=attempt)
        moved = phantoms.shift(blobs, (1, attempt % 3 - 1, 2))
        moved = np.where(moved == 2, 0, moved)  # a miss
        away = np.sort([ndimage.distance_transform_edt(blobs != i) for i in range(1, 7)], axis=0)
        if (away[0] < away[1])[moved > 0].all():
            break
    return np.minimum(blobs, 1), np.minimum(moved, 1)


def all_found(seed: int) -> Scene:
    """Return two kinds of blobs, all of them found, with no voxel equally near to two of a kind."""
    for attempt in range(seed * 100, seed * 100 + 100):
        blobs = phantoms.blobs((22, 24, 20), 6, radius=(2, 3.5), gap=2, seed=attempt)
        moved = phantoms.shift(blobs, (1, attempt % 3 - 1, 0))
        reference, prediction = (np.where(ids > 0, 1 + ids % 2, 0) for ids in (blobs, moved))
        if all(_has_no_ties(reference == kind, prediction == kind) for kind in (1, 2)):
            return reference, prediction
    raise AssertionError(seed)


def _has_no_ties(reference: Mask, prediction: Mask) -> bool:
    components, n = ndimage.label(reference, np.ones((3, 3, 3)))
    away = [ndimage.distance_transform_edt(components != i) for i in range(1, n + 1)]
    nearest, second, *_ = np.sort(away, axis=0)
    found = np.unique(components[prediction])
    return n == 3 and len(found[found > 0]) == n and bool((nearest < second)[prediction].all())


SEMANTIC = "expected_input: !InputType SEMANTIC"
CONNECTED = "instance_approximator: !ConnectedComponentsInstanceApproximator"
ONE_HOT = "!OneHotConnectedComponentsInstanceApproximator"
GROUPED = """
segmentation_class_groups: !SegmentationClassGroups
  groups:
    one: !LabelGroup {value_labels: 1}
    Both: !LabelMergeGroup {value_labels: [2, 3]}
    apart: [[2, 3], false]
    solo: !LabelGroup {value_labels: [2], single_instance: true}
"""


def own(matcher: str, *lines: str) -> str:
    """Return a configuration for semantic images."""
    start = ["!Panoptica_Evaluator", SEMANTIC, "instance_metrics: [!Metric IOU, !Metric DSC]"]
    return "\n".join([*start, f"instance_matcher: !{matcher}", *lines]) + "\n"


def instances(matcher: str) -> str:
    """Return a configuration for images of ids."""
    return own(matcher).replace("SEMANTIC", "UNMATCHED_INSTANCE")


LOW = "{matching_threshold: 0.2}"
OWN: dict[str, tuple[Callable[[int], Scene], str]] = {
    "greedy": (semantic, own(f"NaiveThresholdMatching {LOW}", f"{CONNECTED} {{}}", GROUPED)),
    "flat": (flat, own(f"NaiveThresholdMatching {LOW}", f"{CONNECTED} {{}}", GROUPED)),
    "flat-cc3d": (
        flat,
        own(
            "MaxBipartiteMatching {matching_threshold: 1e-1, strict_threshold: true}",
            f"{CONNECTED} {{cca_backend: !CCABackend cc3d}}",
            GROUPED,
        ),
    ),
    "scipy": (
        semantic,
        own(f"MaximizeMergeMatching {LOW}", f"{CONNECTED} {{cca_backend: !CCABackend scipy}}"),
    ),
    "merge-dice": (
        semantic,
        own(
            "MaximizeMergeMatching {matching_threshold: 0, matching_metric: !Metric DSC}",
            f"{CONNECTED} {{}}",
            GROUPED,
        ),
    ),
    "bipartite-dice": (
        semantic,
        own(
            "MaxBipartiteMatching {matching_threshold: 0.05, matching_metric: !Metric DSC}",
            f"{CONNECTED} {{}}",
        ),
    ),
    "one-hot": (
        binary,
        own(f"MaxBipartiteMatching {LOW}", f"instance_approximator: {ONE_HOT} {{}}"),
    ),
    "many-to-one": (
        semantic,
        own(
            "NaiveThresholdMatching {matching_threshold: 0.5, allow_many_to_one: true}",
            f"{CONNECTED} {{}}",
        ),
    ),
    "decision": (
        semantic,
        own(
            f"NaiveThresholdMatching {LOW}",
            f"{CONNECTED} {{}}",
            "decision_metric: !Metric DSC",
            "decision_threshold: 0.55",
            GROUPED,
        ),
    ),
    "rivals-greedy": (contested, instances("NaiveThresholdMatching {matching_threshold: 0}")),
    "rivals-bipartite": (
        contested,
        instances("MaxBipartiteMatching {matching_metric: !Metric DSC, matching_threshold: 0.05}"),
    ),
    "rivals-merge": (contested, instances("MaximizeMergeMatching {matching_threshold: 0.25}")),
    "regions": (
        regions,
        own(f"MaxBipartiteMatching {LOW}", f"{CONNECTED} {{}}", "per_region_evaluation: true"),
    ),
    "matched": (
        same_ids,
        "!Panoptica_Evaluator\ninstance_metrics: [!Metric IOU, !Metric DSC]\n",
    ),
    "matched-decision": (
        same_ids,
        "!Panoptica_Evaluator\ninstance_metrics: [!Metric IOU, !Metric DSC]\n"
        "decision_metric: !Metric DSC\ndecision_threshold: 0.6\n",
    ),
}
SHIPPED = {
    "panoptica_evaluator_default": semantic,
    "panoptica_evaluator_BRATS": semantic,
    "panoptica_evaluator_ISLES": binary,
    "panoptica_evaluator_VERSE": vertebrae,
    "panoptica_evaluator_binaryMS": binary,
    "panoptica_evaluator_unmatched_instance": spine,
    "panoptica_config_voronoi": two_kinds,
}
VORONOI, ALL_FOUND = "panoptica_config_voronoi", "panoptica_config_voronoi, all found"
NAMES = [*OWN, *SHIPPED, ALL_FOUND]


def has_exact_ties(scene: Scene, spec: Spec) -> bool:
    """Return whether an IoU or Dice is a threshold, or equals that of a neighbour.

    Between ties a heuristic may go either way, and at the threshold the programs differ.
    """
    for case in class_cases(Images(scene[0]), Images(scene[1]), spec):
        overlap = case.overlap
        for score in (overlap.iou, overlap.score("dice")):
            if np.isin(score, spec.thresholds).any():
                return True
        edges = zip(overlap.iou, overlap.edges.ref, overlap.edges.pred, strict=True)
        for a, b in combinations(list(edges), 2):
            if a[0] == b[0] and (a[1] == b[1] or a[2] == b[2]):
                return True
    return False


def chosen_scenes(make: Callable[[int], Scene], spec: Spec) -> Iterator[Scene]:
    for seed in range(10_000):
        scene = make(seed)
        if not has_exact_ties(scene, spec):
            yield scene


Answers = dict[str, tuple[Spec, list[tuple[Scene, dict[str, Any]]]]]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> tuple[Answers, list[str]]:
    """Return for every configuration the migrated spec, and what panoptica says of its scenes."""
    folder = tmp_path_factory.mktemp("panoptica")
    paths = {path.stem: path for path in shipped_configs()}
    for name, (_, text) in OWN.items():
        paths[name] = folder / f"{name}.yaml"
        paths[name].write_text(text)
    paths[ALL_FOUND] = paths[VORONOI]
    makers = {name: make for name, (make, _) in OWN.items()} | SHIPPED | {ALL_FOUND: all_found}
    specs, scenes = {}, {}
    for name in NAMES:
        dimensions = makers[name](0)[0].ndim
        specs[name] = spec_from_panoptica(read_panoptica(paths[name]), dimensions).spec
        found = chosen_scenes(makers[name], specs[name])
        scenes[name] = [next(found) for _ in range(SCENES)]
    every = [(name, scene) for name in NAMES for scene in scenes[name]]
    configs = np.array([str(paths[name]) for name, _ in every])
    asked = ask_peer("run_panoptica_configs.py", folder, [s for _, s in every], configs=configs)
    by_name: Answers = {name: (specs[name], []) for name in NAMES}
    for (name, scene), said in zip(every, asked["scenes"], strict=True):
        by_name[name][1].append((scene, said))
    return by_name, asked["tags"]


def rows_of(scene: Scene, spec: Spec) -> dict[tuple[str, float], dict[str, Any]]:
    result = pm.evaluate(reference=scene[0], prediction=scene[1], spec=spec)
    return {(row["class"], row["threshold"]): row for row in result.scores.to_dict("records")}


OURS = {
    "pq": "pq",
    "sq": "sq",
    "rq": "rq",
    "pq_dsc": "pq_dice",
    "sq_dsc": "sq_dice",
    "sq_std": "sq_std",
    "sq_dsc_std": "sq_dice_std",
    "sq_assd": "sq_masd",
    "sq_rvd": "sq_relative_volume_difference",
}
IN_REGIONS = ("regions", VORONOI, ALL_FOUND)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in IN_REGIONS])
def test_counts_and_qualities_are_panoptica_s(name: str, answers: Any) -> None:
    spec, scenes = answers[0][name]
    matches = dict.fromkeys(spec.classes, 0)
    for scene, theirs in scenes:
        assert list(theirs) == list(spec.classes), theirs
        ours = rows_of(scene, spec)
        for group, numbers in theirs.items():
            single = group in ("solo", "sacrum")
            row = ours[group, 0.0 if single else max(spec.thresholds)]
            counts = tuple(numbers[key] for key in ("tp", "fp", "fn"))
            assert (row["tp"], row["fp"], row["fn"]) == counts, group
            known = {t: row[our] for t, our in OURS.items() if t in numbers and our in row}
            wanted = {their: numbers[their] for their in known}
            assert known == pytest.approx(wanted, abs=1e-9, nan_ok=True), group
            assert len(known) >= 2
            matches[group] += row["tp"]
    assert all(count >= LEAST_MATCHES for count in matches.values()), matches


def test_the_scenes_tell_strategies_apart(answers: Any) -> None:
    """Each of its own matchers gives another PQ on some scene than the other two."""
    names = ("rivals-greedy", "rivals-bipartite", "rivals-merge")
    specs = [answers[0][name][0] for name in names]
    for spec, name in zip(specs, names, strict=True):
        for other in specs:
            changed = spec.model_copy(update={"matching": other.matching})
            wrong = 0
            for scene, theirs in answers[0][name][1]:
                (row,) = rows_of(scene, changed).values()
                wrong += abs(row["pq"] - theirs["ungrouped"]["pq"]) > 1e-9
            assert (wrong > 0) == (other is not spec)


def test_the_mean_over_regions_is_that_over_all_references(answers: Any) -> None:
    spec, scenes = answers[0]["regions"]
    for scene, theirs in scenes:
        numbers = theirs["ungrouped"]
        assert np.isnan(numbers["tp"])
        assert "pq" not in numbers
        result = pm.evaluate(reference=scene[0], prediction=scene[1], spec=spec)
        references = result.instances[result.instances["ref_id"] > 0]
        assert len(references) == 6
        assert "missed" in set(references["status"])
        assert references["dice"].mean() == pytest.approx(numbers["region_avg_dsc"], abs=1e-9)


def test_the_shipped_regions_give_panoptica_s_numbers_where_it_gives_any(answers: Any) -> None:
    spec, scenes = answers[0][ALL_FOUND]
    for scene, theirs in scenes:
        objects = pm.evaluate(reference=scene[0], prediction=scene[1], spec=spec).instances
        assert list(theirs) == ["tumortype1", "tumortype2"]
        for group, numbers in theirs.items():
            rows = objects[(objects["class"] == group) & (objects["ref_id"] > 0)]
            assert len(rows) == 3
            assert rows["dice"].mean() == pytest.approx(numbers["region_avg_dsc"], abs=1e-9)


def test_the_shipped_groups_are_those_of_the_shipped_evaluator() -> None:
    """That one's numbers are compared above."""
    paths = {path.stem: path for path in shipped_configs()}
    groups, evaluator = (
        spec_from_panoptica(read_panoptica(paths[name])).spec
        for name in (
            "SegmentationClassGroups_example_unmatchedinstancepair",
            "panoptica_evaluator_unmatched_instance",
        )
    )
    assert groups.classes == evaluator.classes
    assert len(groups.classes) == 4


def test_the_shipped_regions_stop_panoptica_where_nothing_matches(answers: Any) -> None:
    """As the remark says: there is no edge case for CEDI."""
    spec, scenes = answers[0][VORONOI]
    errors = {said["error"] for _, said in scenes if "error" in said}
    assert errors == {
        "NotImplementedError: Metric Metric.CEDI encountered zero TP, but no edge handling "
        "available"
    }
    for scene, _ in scenes:
        assert len(rows_of(scene, spec)) == 2


def test_all_tags_of_panoptica_are_known_but_those_that_no_configuration_can_hold(
    answers: Any,
) -> None:
    unused = {"EdgeCaseZeroTP", "INPUTDTYPE", "MetricMode", "MetricType", "_LabelGroupAny"}
    abstract = {"InstanceApproximator", "InstanceMatchingAlgorithm", "ThresholdBasedMatching"}
    known = {tag.removeprefix("!") for tag in TAGS}
    assert set(answers[1]) == known | unused | abstract


def test_every_shipped_configuration_migrates() -> None:
    configs = shipped_configs()
    assert len(configs) == 8
    for path in configs:
        found = spec_from_panoptica(read_panoptica(path))
        assert found.spec.classes
        assert found.remarks


def row(*runs: tuple[int, int]) -> Labels:
    """Return one row of pixels, below which there is nothing: (label, length) one by one."""
    filled = np.concatenate([np.full(length, label) for label, length in runs])
    return np.stack([filled, np.zeros_like(filled), np.zeros_like(filled)])


METRICS = "instance_metrics: [!Metric IOU]\n"
PARTS = """
segmentation_class_groups: !SegmentationClassGroups
  groups: {ungrouped: !LabelPartGroup {thing_labels: 1, part_labels: 2}}
"""
SINGLE = """
segmentation_class_groups: !SegmentationClassGroups
  groups: {ungrouped: !LabelGroup {value_labels: 1, single_instance: true}}
"""


def parts_at(threshold: float) -> str:
    matcher = f"NaiveThresholdMatching {{matching_threshold: {threshold}}}"
    return own(matcher, f"{CONNECTED} {{}}", PARTS)


WHOLE_ASSD = own("NaiveThresholdMatching {}", f"{CONNECTED} {{}}", "global_metrics: [!Metric ASSD]")
WHOLE = row((1, 10))
PARTED = np.zeros((3, 8, 8), int)
PARTED[1, :7, :7], PARTED[1, :3, :3] = 1, 2
WORSE_PART = np.where((PARTED == 2) & (np.arange(8) == 2), 1, PARTED)  # IoU of the part: 2/3
# Names of what the page says, with a scene, the configuration, and what panoptica gives.
SAID: dict[str, tuple[Labels, Labels, str, dict[str, float]]] = {
    "equality counts": (
        WHOLE,
        row((1, 5), (0, 5)),
        instances("NaiveThresholdMatching {}"),
        {"tp": 1, "sq": 0.5},
    ),
    "unless it is strict": (
        WHOLE,
        row((1, 5), (0, 5)),
        instances("NaiveThresholdMatching {strict_threshold: true}"),
        {"tp": 0},
    ),
    "areas are trapezia": (
        WHOLE,
        row((1, 8), (0, 2)),
        instances("NaiveThresholdMatching {}"),
        {"autc_pq": 0.68},
    ),
    "ids match without overlap": (
        row((1, 5), (0, 5)),
        row((0, 5), (1, 5)),
        f"!Panoptica_Evaluator\n{METRICS}",
        {"tp": 1, "fp": 0, "fn": 0, "sq": 0},
    ),
    "single instances do too": (
        row((1, 5), (0, 5)),
        row((0, 5), (1, 5)),
        own("NaiveThresholdMatching {}", SINGLE),
        {"tp": 1, "fp": 0, "fn": 0, "sq": 0},
    ),
    "naive many-to-one takes what makes the union worse": (
        row((1, 6), (0, 6)),
        row((1, 4), (2, 8)),
        instances("NaiveThresholdMatching {matching_threshold: 0.1, allow_many_to_one: true}"),
        {"tp": 1, "fp": 0, "sq": 0.5},
    ),
    "masks without overlap are edge cases": (
        row((1, 5), (0, 5)),
        row((0, 5), (1, 5)),
        WHOLE_ASSD,
        {"global_bin_assd": np.inf},
    ),
    "scipy joins labels in 2-D": (
        row((1, 5), (2, 5)),
        row((1, 5), (2, 5)),
        own("NaiveThresholdMatching {}", f"{CONNECTED} {{}}"),
        {"tp": 1},
    ),
    "cc3d does not": (
        row((1, 5), (2, 5)),
        row((1, 5), (2, 5)),
        own("NaiveThresholdMatching {}", f"{CONNECTED} {{cca_backend: !CCABackend cc3d}}"),
        {"tp": 2},
    ),
    "parts weigh as much as the thing": (PARTED, WORSE_PART, parts_at(0.83), {"tp": 1}),
    "and so can keep it from matching": (PARTED, WORSE_PART, parts_at(0.84), {"tp": 0}),
}


def test_what_the_page_says_of_panoptica(tmp_path: Path) -> None:
    """docs/how-to/move-from-panoptica.md has these as rows of its tables."""
    paths = []
    for i, (_, _, text, _) in enumerate(SAID.values()):
        paths.append(tmp_path / f"{i}.yaml")
        paths[-1].write_text(text)
    scenes = [(reference, prediction) for reference, prediction, _, _ in SAID.values()]
    plain = ask_peer(
        "run_panoptica_configs.py", tmp_path, scenes, configs=np.array(list(map(str, paths)))
    )
    area = ask_peer(
        "run_panoptica_configs.py",
        tmp_path,
        scenes[2:3],
        configs=np.array([str(paths[2])]),
        areas=np.array(1),
    )
    plain["scenes"][2] = area["scenes"][0]
    for (name, (*_, expected)), found in zip(SAID.items(), plain["scenes"], strict=True):
        numbers = found["ungrouped"]
        assert {key: numbers[key] for key in expected} == pytest.approx(expected), name


def test_what_the_page_says_of_panmatch_on_the_same_scenes(tmp_path: Path) -> None:
    ours = {}
    for name, (reference, prediction, text, _) in SAID.items():
        (tmp_path / "config.yaml").write_text(text)
        spec = spec_from_panoptica(read_panoptica(tmp_path / "config.yaml"), reference.ndim).spec
        table = pm.evaluate(reference=reference, prediction=prediction, spec=spec).scores
        ours[name] = table.iloc[0]
        if "areas" in name:
            assert pm.curve(pm.count_overlaps(reference, prediction)).autc == pytest.approx(0.64)
    assert ours["equality counts"]["tp"] == 1
    assert ours["unless it is strict"]["tp"] == 0
    assert ours["ids match without overlap"]["tp"] == 0
    assert ours["single instances do too"]["tp"] == 0
    assert ours["ids match without overlap"]["pq"] == 0
    assert ours["masks without overlap are edge cases"]["whole_masd"] == np.inf
    merged = ours["naive many-to-one takes what makes the union worse"]
    assert (merged["tp"], merged["fp"], merged["sq"]) == (1, 1, pytest.approx(2 / 3))
    assert ours["scipy joins labels in 2-D"]["tp"] == 1
    assert ours["cc3d does not"]["tp"] == 2
    assert ours["and so can keep it from matching"]["tp"] == 1
    assert ours["and so can keep it from matching"]["part_sq"] == pytest.approx(2 / 3)


HANDLER = """
edge_case_handler: !EdgeCaseHandler
  listmetric_zeroTP_handling:
"""
RESULTS = ("INF", "NAN", "ZERO", "ONE", "NONE")
EDGES = ("no_instances_result", "empty_prediction_result", "empty_reference_result", "normal")
MEASURED = {
    "IOU": "iou",
    "DSC": "dice",
    "ASSD": "masd",
    "clDSC": "cldice",
    "RVD": "relative_volume_difference",
    "RVAE": "relative_volume_error",
    "CEDI": "centre_distance",
    "HD": "hd",
    "HD95": "hd95_pooled",
    "NSD": "nsd",
}
ALL_METRICS = ", ".join(f"!Metric {name}" for name in MEASURED)


def handled(turn: int) -> str:
    """Return a configuration in which metrics have edge cases of their own, another each turn."""
    lines = []
    for i, name in enumerate(MEASURED):
        values = [RESULTS[(turn + i + (2 + i) * place) % len(RESULTS)] for place in range(4)]
        pairs = zip(EDGES, values, strict=True)
        said = ", ".join(f"{edge}: !EdgeCaseResult {value}" for edge, value in pairs)
        lines.append(f"    !Metric {name}: !MetricZeroTPEdgeCaseHandling {{{said}}}")
    text = instances("NaiveThresholdMatching {}")
    text = text.replace("[!Metric IOU, !Metric DSC]", f"[{ALL_METRICS}]")
    return f"{text}global_metrics: [{ALL_METRICS}]{HANDLER}" + "\n".join(lines) + "\n"


DEFAULT_HANDLER = (
    instances("NaiveThresholdMatching {}").replace(
        "[!Metric IOU, !Metric DSC]",
        "[!Metric IOU, !Metric DSC, !Metric ASSD, !Metric clDSC, !Metric RVD, !Metric RVAE]",
    )
    + "global_metrics: [!Metric IOU, !Metric DSC, !Metric ASSD, !Metric clDSC, !Metric RVD, "
    "!Metric RVAE]\n"
)


def block(*boxes: tuple[int, int, int]) -> Labels:
    """Return objects of 5 × 5 × 5 voxels, of which thinning leaves something, by their corners."""
    image = np.zeros((12, 14, 16), int)
    for label, (x, y, z) in enumerate(boxes, start=1):
        image[x : x + 5, y : y + 5, z : z + 5] = label
    return image


EDGE_SCENES = {
    "both empty": (block(), block()),
    "no reference": (block(), block((1, 1, 1), (7, 8, 9))),
    "no prediction": (block((1, 1, 1), (7, 8, 9)), block()),
    "nothing overlaps": (block((1, 1, 1)), block((7, 8, 9))),
    "nothing matches": (block((1, 1, 1), (7, 8, 9)), block((3, 3, 3))),
    "all is well": (block((1, 1, 1), (7, 8, 9)), block((1, 1, 1), (7, 8, 9))),
}


@pytest.mark.parametrize("turn", [None, *range(len(RESULTS))])
def test_edge_cases_are_panoptica_s(turn: int | None, tmp_path: Path) -> None:
    """NONE of panoptica is left out of its table, and NaN in ours."""
    path = tmp_path / "config.yaml"
    path.write_text(DEFAULT_HANDLER if turn is None else handled(turn))
    scenes = list(EDGE_SCENES.values())
    configs = np.array([str(path)] * len(scenes))
    asked = ask_peer("run_panoptica_configs.py", tmp_path, scenes, configs=configs)["scenes"]
    spec = spec_from_panoptica(read_panoptica(path)).spec
    for (name, scene), said in zip(EDGE_SCENES.items(), asked, strict=True):
        (ours,) = rows_of(scene, spec).values()
        theirs = said["ungrouped"]
        assert (ours["tp"], ours["fp"], ours["fn"]) == tuple(theirs[k] for k in ("tp", "fp", "fn"))
        for metric, our in MEASURED.items():
            if our not in spec.metrics or (metric == "NSD" and name == "nothing matches"):
                continue  # NSD of masks that touch is another number
            mean = "sq" if metric == "IOU" else f"sq_{metric.lower()}"
            column = "sq" if our == "iou" else f"sq_{our}"
            names = (mean, f"global_bin_{metric.lower()}")
            expected = [theirs.get(their, np.nan) for their in names]
            found = [ours[column], ours[f"whole_{our}"]]
            assert found == pytest.approx(expected, abs=1e-9, nan_ok=True), (name, metric)


def test_a_metric_without_an_edge_case_stops_panoptica_and_not_panmatch(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(DEFAULT_HANDLER.replace("!Metric RVAE", "!Metric HD"))
    scene = EDGE_SCENES["no prediction"]
    (said,) = ask_peer(
        "run_panoptica_configs.py", tmp_path, [scene], configs=np.array([str(path)])
    )["scenes"]
    assert "no edge handling available" in said["error"]
    (ours,) = rows_of(scene, spec_from_panoptica(read_panoptica(path)).spec).values()
    assert np.isnan(ours["sq_hd"])
