"""`panmatch evaluate a.zarr b.zarr --dask ADDRESS` on OME-Zarr images with label groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import panmatch as pm
from tests.chunked_arrays import Array
from tests.clusters import local_cluster
from tests.commands import complaints, panmatch
from tests.datasets.folders import scene, tables
from tests.formats.test_zarr_stores import SPACE, ome

SPACING = [2.0, 0.5, 0.5]


def save_ome(path: Path, labels: Array, chunks: tuple[int, ...]) -> None:
    """Write an image with one label image, both of two levels, as OME-Zarr 0.5."""
    import zarr

    levels = [
        {"path": name, "coordinateTransformations": [{"type": "scale", "scale": scale}]}
        for name, scale in (("0", SPACING), ("1", [2 * step for step in SPACING]))
    ]
    attributes = ome(3, {"multiscales": [{"axes": SPACE, "datasets": levels}]})
    image: Any = zarr.open_group(str(path), mode="w", attributes=attributes)
    cells = image.create_group("labels").create_group("cells", attributes=attributes)
    for group, content in ((image, np.full(labels.shape, 9, np.uint16)), (cells, labels)):
        group.create_array("0", data=content, chunks=chunks)
        group.create_array("1", data=content[::2, ::2, ::2])


def test_a_cluster_works_on_the_chunks_of_label_groups(tmp_path: Path) -> None:
    reference = scene(2)
    prediction = np.roll(reference, 1, axis=1)
    save_ome(tmp_path / "ref.ome.zarr", reference, (5, 6, 7))
    save_ome(tmp_path / "pred.ome.zarr", prediction, (18, 4, 14))
    files = "ref.ome.zarr", "pred.ome.zarr"
    spec = tmp_path / "spec.yaml"
    spec.write_text("matching: [one-to-one, union]\nmetrics: [dice, centre_distance]\n")
    with local_cluster() as cluster:
        before = cluster.scheduler.transition_counter
        done = panmatch("evaluate", *files, "--spec", spec, "-o", "dask",
                        "--dask", cluster.scheduler_address, cwd=tmp_path)  # fmt: skip
        assert cluster.scheduler.transition_counter > before + 48  # chunks of the reference
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    here = panmatch("evaluate", *files, "--spec", spec, "-o", "here", cwd=tmp_path)
    assert (here.returncode, complaints(here.stderr)) == (0, [])
    assert tables(tmp_path / "dask") == tables(tmp_path / "here")
    want = pm.evaluate(reference=reference, prediction=prediction, spec=spec, spacing=SPACING)
    found = pd.read_parquet(tmp_path / "dask" / "instances.parquet")
    np.testing.assert_array_equal(found.centre_distance, want.instances.centre_distance)
    assert found.centre_distance.max() == pytest.approx(0.5)
