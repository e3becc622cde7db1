"""PQ as the COCO panoptic challenge computes it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import chain, islice

from panmatch.labels import Panoptic
from panmatch.overlap import count_sides, join_images
from panmatch.scoring import ClassTallies, tally_classes

IMAGES_TOGETHER = 500


def coco_pq(
    reference_json: str | os.PathLike[str],
    reference_dir: str | os.PathLike[str],
    prediction_json: str | os.PathLike[str],
    prediction_dir: str | os.PathLike[str],
) -> ClassTallies:
    """Return the official COCO panoptic scores of two annotation files with their images (D12).

    Parameters
    ----------
    reference_json, prediction_json
        Annotation files; classes are the categories of the reference.
    reference_dir, prediction_dir
        Folders with the PNG images.

    Returns
    -------
    ClassTallies
        Summed over images: ``.all.pq``, ``.things.sq``, ``[class_id].tp`` and so on.

    Raises
    ------
    LabelError, FileError
        Where an image and its table of segments contradict each other; see
        ``docs/explanation/related.md`` for what the official program does there.

    Examples
    --------
    One image of 2 × 2 pixels; colours of the PNG images are segment ids, red first.

    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> from panmatch import related
    >>> folder = Path(tempfile.mkdtemp())
    >>> for side, ids in {"reference": [7, 7, 7, 0], "prediction": [9, 9, 0, 0]}.items():
    ...     (folder / side).mkdir()
    ...     image = Image.new("RGB", (2, 2))
    ...     image.putdata([(i, 0, 0) for i in ids])
    ...     image.save(folder / side / "1.png")
    ...     segment = {"id": ids[0], "category_id": 1, "iscrowd": 0, "area": 4 - ids.count(0)}
    ...     found = {"image_id": 1, "file_name": "1.png", "segments_info": [segment]}
    ...     categories = [{"id": 1, "name": "cat", "isthing": 1}]
    ...     table = {"images": [{"id": 1}], "annotations": [found], "categories": categories}
    ...     _ = (folder / f"{side}.json").write_text(json.dumps(table))
    >>> scores = related.coco_pq(
    ...     folder / "reference.json", folder / "reference",
    ...     folder / "prediction.json", folder / "prediction",
    ... )
    >>> round(scores.all.pq, 3), scores[1].tp
    (0.667, 1)
    """
    from panmatch.formats import pair_images, read_coco_panoptic

    reference = read_coco_panoptic(reference_json, reference_dir)
    prediction = read_coco_panoptic(prediction_json, prediction_dir)
    return coco_pq_of(pair_images(reference, prediction))


def coco_pq_of(images: Iterable[tuple[Panoptic, Panoptic]]) -> ClassTallies:
    """Return the same scores from images in memory: pairs of `from_segments`.

    Examples
    --------
    >>> import panmatch as pm
    >>> from panmatch import related
    >>> person = pm.SegmentClass(1, "person")
    >>> reference = pm.from_segments([[5, 5, 0]], {5: (1, False)}, [person])
    >>> prediction = pm.from_segments([[8, 8, 8]], {8: (1, False)}, [person])
    >>> related.coco_pq_of([(reference, prediction)]).all.pq  # void is left out
    1.0
    """
    # At a threshold of ½ images can be matched together, which saves most of the time.
    counted = (count_sides(reference, prediction) for reference, prediction in images)
    total: ClassTallies | None = None
    for first in counted:
        together = chain([first], islice(counted, IMAGES_TOGETHER - 1))
        tallies = tally_classes(join_images(together))
        total = tallies if total is None else total + tallies
    return ClassTallies((), {}) if total is None else total
