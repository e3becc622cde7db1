"""What tensors may hold: objects, classes, masks, void; and what they may not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import panmatch as pm
from panmatch.errors import LabelError, OptionError, ShapeError, StrategyError, ThresholdError
from tests.torch.batches import KINDS, count_each, draw_batch, expected

REASON = "the metric needs torch: pip install 'panmatch[torch]'"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torchmetrics", reason=REASON)

from panmatch.torch import PanopticMatching  # noqa: E402
from tests.torch.tensors import as_tensors, assert_same_curve, drawn, scores  # noqa: E402


def test_numbers_of_objects_may_begin_anew_in_every_class() -> None:
    metric = PanopticMatching(KINDS)
    image = torch.tensor([[[3, 1], [3, 2], [8, 1], [8, 2]]])
    metric.update(image, image)
    assert metric.tallies()[0.5].things.classes == (3, 8)
    assert metric.compute()["tp"] == 4


def test_a_thing_without_a_number_is_crowd_in_target_and_an_object_in_preds() -> None:
    metric = PanopticMatching(KINDS[:1])
    metric.update(
        torch.tensor([[[3, 4], [3, 4], [0, 0]]]), torch.tensor([[[3, 0], [3, 0], [0, 0]]])
    )
    assert metric.tallies()[0.5][3] == pm.Tally(0, 0, 0, 0.0)  # dismissed
    metric.update(
        torch.tensor([[[3, 0], [3, 0], [0, 0]]]), torch.tensor([[[3, 4], [3, 4], [0, 0]]])
    )
    assert metric.tallies()[0.5][3] == pm.Tally(1, 0, 0, 1.0)


def test_void_labels_and_masks_leave_the_union_and_dismiss() -> None:
    reference, prediction = draw_batch(5, seed=5)
    reference = np.where(reference == 6, -1, np.where(reference == 5, 255, reference))
    mask = np.random.default_rng(5).random(reference.shape) < 0.1
    void = (reference < 0) | (reference == 255) | mask
    overlaps = [pm.count_overlaps(*one) for one in zip(reference, prediction, void, strict=True)]
    assert any(one.predictions.dismissible.any() for one in overlaps)
    tally, curve = expected(overlaps, "many-to-one", 0.3)
    metric = PanopticMatching(strategy="many-to-one", threshold=0.3, void=(-1, 255), curve=True)
    metric.update(*as_tensors(prediction, reference), void=torch.from_numpy(mask))
    assert metric.tallies()[0.3][1] == tally
    assert_same_curve(metric.curves()[1], curve)


def test_one_void_label_or_a_mask_alone_is_enough() -> None:
    reference, prediction = draw_batch(2, seed=6)
    wanted, _ = expected(count_each(reference, prediction, lambda r, p: pm.count_overlaps(r, p, 3)))
    by_label, by_mask = PanopticMatching(void=3), PanopticMatching()
    by_label.update(*as_tensors(prediction, reference))
    by_mask.update(*as_tensors(prediction, reference), torch.from_numpy(reference == 3))
    assert by_label.tallies()[0.5][1] == by_mask.tallies()[0.5][1] == wanted


def test_without_classes_the_void_label_is_an_ordinary_object_in_preds() -> None:
    for instances in ("ids", "components"):
        metric = PanopticMatching(void=255, instances=instances)
        metric.update(torch.tensor([[255, 255, 0, 0, 0]]), torch.tensor([[0, 0, 0, 255, 255]]))
        assert metric.tallies()[0.5][1] == pm.Tally(tp=0, fp=1, fn=0, quality=0.0)


def test_a_void_class_is_no_segment_on_either_side() -> None:
    metric = PanopticMatching(KINDS, void=255)
    target = torch.tensor([[[3, 1], [3, 1], [255, 0], [5, 0]]])
    preds = torch.tensor([[[3, 1], [3, 1], [3, 1], [255, 7]]])
    metric.update(preds, target)
    assert metric.tallies()[0.5][3] == pm.Tally(1, 0, 0, 1.0)
    assert metric.tallies()[0.5][5] == pm.Tally(0, 0, 1, 0.0)
    metric.update(preds, target, void=torch.tensor([[0, 1, 0, 1]]))
    assert metric.tallies()[0.5][5] == pm.Tally(0, 0, 1, 0.0)
    assert metric.tallies()[0.5][3] == pm.Tally(2, 0, 0, 2.0)


def test_components_of_masks_are_the_objects() -> None:
    reference, prediction = (image > 3 for image in draw_batch(4, seed=7))
    metric = PanopticMatching(instances="components", threshold=0.1)
    metric.update(torch.from_numpy(prediction), torch.from_numpy(reference))
    spec = {"preset": "binary-components", "thresholds": 0.1, "matching": "one-to-one"}
    evaluator = pm.Evaluator(spec)
    for ref, pred in zip(reference, prediction, strict=True):
        evaluator.update(reference=ref, prediction=pred)
    rows = evaluator.compute().scores
    assert rows.tp.sum() > 0
    found = scores(metric)
    assert [found[name] for name in ("tp", "fp", "fn")] == rows[["tp", "fp", "fn"]].sum().tolist()


def test_components_of_class_maps_are_the_objects_and_stuff_stays_whole() -> None:
    target = torch.tensor([[[3, 0, 3, 8, 8], [5, 0, 5, 0, 0]]])
    preds = torch.tensor([[[3, 0, 0, 8, 3], [5, 0, 5, 0, 0]]])
    metric = PanopticMatching(KINDS, instances="components", threshold=0.4)
    metric.update(preds, target)
    tallies = metric.tallies()[0.4]
    assert tallies[3] == pm.Tally(tp=1, fp=1, fn=1, quality=1.0)
    assert tallies[8] == pm.Tally(tp=1, fp=0, fn=0, quality=0.5)
    assert tallies[5] == pm.Tally(tp=1, fp=0, fn=0, quality=1.0)


def test_volumes_and_every_integer_type_are_taken() -> None:
    reference, prediction = draw_batch(4, seed=8)
    tally, _ = expected([pm.count_overlaps(reference, prediction)])
    for dtype in (torch.uint8, torch.int16, torch.int32, torch.int64):
        metric = PanopticMatching()
        metric.update(*(one[None].to(dtype) for one in as_tensors(prediction, reference)))
        assert metric.tallies()[0.5][1] == tally


def test_classes_may_be_negative_nowhere_but_in_void() -> None:
    metric = PanopticMatching(KINDS, void=-1)
    metric.update(torch.tensor([[[3, 1], [3, 1]]]), torch.tensor([[[3, 1], [-1, -1]]]))
    assert metric.tallies()[0.5][3] == pm.Tally(1, 0, 0, 1.0)


def whole(*shape: int) -> Any:
    return torch.zeros(shape, dtype=torch.int64)


@pytest.mark.parametrize(
    ("options", "preds", "target", "error", "message"),
    [
        (
            {}, whole(2, 4, 4), whole(2, 4, 5), ShapeError,
            r"preds has shape \(2, 4, 4\) but target has shape \(2, 4, 5\); both must lie on the "
            r"same grid",
        ),
        (
            {}, whole(2, 4, 4).float(), whole(2, 4, 4), LabelError,
            r"preds has dtype torch.float32; labels must be integers or booleans. Turn logits into "
            r"labels first, with argmax over the classes or a threshold\. Convert labels that are "
            r"stored as floats with .long\(\)",
        ),
        (
            {}, whole(2, 4, 4), whole(2, 4, 4).half(), LabelError,
            r"target has dtype torch.float16; labels must be integers or booleans",
        ),
        (
            {}, whole(2, 4, 4).numpy(), whole(2, 4, 4), LabelError,
            r"preds is a ndarray, not a torch.Tensor: pass torch.as_tensor\(preds\)",
        ),
        (
            {}, whole(4), whole(4), ShapeError,
            r"have shape \(4,\), but must be \[B, \*spatial\]: a batch of label images. Add the "
            r"batch axis with unsqueeze\(0\)",
        ),
        (
            {"classes": KINDS}, whole(2, 4, 4), whole(2, 4, 4), ShapeError,
            r"have shape \(2, 4, 4\), but with classes they must be \[B, \*spatial, 2\]: the last "
            r"axis holds class and instance. For class maps whose connected components are the "
            r"objects, pass instances='components'",
        ),
        (
            {"classes": KINDS}, whole(4, 2), whole(4, 2), ShapeError,
            r"have shape \(4, 2\), but with classes they must be",
        ),
        (
            {}, whole(1, 4) - 1, whole(1, 4), LabelError,
            r"prediction holds the negative label -1 \(4 voxels\)",
        ),
        (
            {"classes": KINDS}, whole(1, 4, 2) + 7, whole(1, 4, 2), LabelError,
            r"preds holds 7 \(4 voxels\), which is not among the classes\. If "
            r"they are classes, add them; if they are background, set such voxels to 0",
        ),
        (
            {"classes": KINDS, "instances": "components"}, whole(1, 4), whole(1, 4) + 7, LabelError,
            r"target holds 7 \(4 voxels\), which is in no class",
        ),
    ],
)  # fmt: skip
def test_invalid_tensors_are_refused(
    options: dict[str, Any], preds: Any, target: Any, error: type[Exception], message: str
) -> None:
    metric = PanopticMatching(**options)
    with pytest.raises(error, match=message):
        metric.update(preds, target)


@pytest.mark.parametrize(
    ("void", "error", "message"),
    [
        (whole(2, 4), ShapeError, r"void has shape \(2, 4\), but the images have \(2, 4, 4\)"),
        (
            whole(2, 4, 4).float(),
            LabelError,
            "void has dtype torch.float32; labels must be integers",
        ),
    ],
)
def test_masks_that_cannot_be_meant_are_refused(
    void: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        PanopticMatching().update(whole(2, 4, 4), whole(2, 4, 4), void)
    pairs = whole(2, 4, 4, 2)
    with pytest.raises(error, match=message):
        PanopticMatching(KINDS).update(pairs, pairs, void)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"strategy": "union"}, StrategyError,
         "strategy='union' only works on regions: pass regions='voronoi' as well"),
        ({"regions": "voronoy"}, OptionError, "regions='voronoy' is not known; did you mean"),
        ({"spacing": (1, 2)}, OptionError,
         "spacing is only used to cut predictions by regions: pass regions='voronoi' as well"),
        ({"regions": "voronoi", "instances": "components"}, OptionError,
         "regions='voronoi' needs numbered objects of one kind: leave out classes, and pass "
         "instances='ids'"),
        ({"regions": "voronoi", "classes": KINDS}, OptionError,
         "regions='voronoi' needs numbered objects of one kind"),
        ({"strategy": "one-to-two"}, StrategyError, "strategy='one-to-two' is not known"),
        ({"score": "iuo"}, OptionError, "score='iuo' is not known; did you mean 'iou'"),
        ({"threshold": 1.0}, ThresholdError, r"threshold=1.0 is outside \[0, 1\)"),
        ({"threshold": [0.5, 0.5]}, OptionError,
         r"threshold=\[0.5, 0.5\] must be one or more different numbers"),
        ({"threshold": []}, OptionError, r"threshold=\[\] must be one or more different numbers"),
        ({"instances": "component"}, OptionError,
         "instances='component' is not known; did you mean 'components'"),
        ({"classes": []}, OptionError, r"classes=\[\] must be one or more ids, none"),
        ({"classes": [pm.SegmentClass(1, "spine", parts=(1, 2))]}, OptionError,
         "class 1 has parts, but label tensors hold no parts. Remove them, or use "
         "panmatch.Evaluator, which accepts part images"),
        ({"classes": KINDS, "void": 8}, OptionError, "class 8 is also listed under void"),
        ({"classes": [pm.SegmentClass(0)], "instances": "components"}, OptionError,
         "label 0 is background in class maps, so no class can have it"),
        ({"classes": [pm.SegmentClass(1, "a"), pm.SegmentClass(2, "a")]}, OptionError,
         "more than one class has the name 'a'"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_meant_are_refused(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        PanopticMatching(**options)


def test_an_error_names_the_image_and_leaves_the_states_alone() -> None:
    metric = PanopticMatching(curve=True)
    metric.update(*drawn(2, seed=1))
    before = scores(metric)
    preds, target = drawn(3, seed=2)
    preds[2, 0, 0] = -5
    with pytest.raises(LabelError, match="negative label -5") as caught:
        metric.update(preds, target)
    assert caught.value.__notes__ == ["This happened in image 2 of the batch."]
    assert scores(metric) == before


def test_curves_must_be_asked_for_beforehand() -> None:
    with pytest.raises(OptionError, match="there are no curves: create the metric with curve=True"):
        PanopticMatching().curves()
