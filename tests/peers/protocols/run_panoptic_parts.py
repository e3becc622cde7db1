"""PartPQ by panoptic_parts, with its specification of Cityscapes: run_panoptic_parts.

`per_class` has the names of the specification for the classes that it counted on either side.
"""

import contextlib
import platform
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

# It reads the first three characters of the version, and takes 3.10 and later for 3.1.
vars(platform)["python_version"] = lambda: "3.9.0"

import panoptic_parts  # noqa: E402
from panoptic_parts.specs.eval_spec import PartPQEvalSpec  # noqa: E402
from panoptic_parts.utils import evaluation_PartPQ as partpq  # noqa: E402

from tests.peers.protocols.records import write  # noqa: E402
from tests.peers.protocols.scenes import Labels, Scene  # noqa: E402

PACKAGE = Path(panoptic_parts.__file__).parent
SPEC = "panoptic_parts/specs/eval_specs/ppq_cpp_19_23_cvpr21_default_evalspec.yaml"
with contextlib.chdir(PACKAGE.parent):  # the specification names another one by a relative path
    spec = PartPQEvalSpec(SPEC)


def channels(uids: Labels) -> tuple[Labels, Labels, Labels]:
    """Return class, instance and part of a prediction, as its three-channel images hold them."""
    with_instance = np.where(uids >= 100_000, uids // 100, uids)
    class_ = np.where(with_instance >= 1000, with_instance // 1000, with_instance)
    instance = np.where(with_instance >= 1000, with_instance % 1000, 0)
    part = np.where(uids >= 100_000, uids % 100, 0)
    return class_, instance, part


def evaluate(scene: Scene) -> Mapping[str, Any]:
    reference, extra_crowd = partpq.annotation_parsing(spec, scene.reference)
    prediction = partpq.prediction_parsing(spec.cat_definition, *channels(scene.prediction))
    ignored = partpq.generate_ignore_info_tiff(scene.reference, spec)
    ignored[extra_crowd != 0] = extra_crowd[extra_crowd != 0]
    crowd = partpq.ignore_img_parsing(ignored, spec.cat_definition)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = partpq.pq_part(prediction, reference, crowd, spec.cat_definition, spec.ignore_label)
    results: dict[str, Any] = {}
    for k, id_ in enumerate(spec.eval_sid_total):
        tally = found[k]
        if tally.tp + tally.fp + tally.fn:
            counts = {name: getattr(tally, name) for name in ("iou", "tp", "fp", "fn")}
            results[spec.eval_sid2scene_label[id_]] = counts
    with contextlib.suppress(ZeroDivisionError):
        groups, per_class = found.pq_average(spec.cat_definition)
        for group in groups:
            results |= group
        for k, id_ in enumerate(spec.eval_sid_total):
            name = spec.eval_sid2scene_label[id_]
            if name in results:
                results[name] |= per_class[k]
    return results


if __name__ == "__main__":
    write("panoptic-parts", evaluate, packages=("panoptic-parts",), family="panoptic parts")
