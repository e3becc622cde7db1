"""Hypothesis strategies: small pairs of label images with many contacts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import panmatch as pm
from tests.strategies import BY_NAME

Labels = npt.NDArray[np.int64]


@st.composite
def label_pairs(draw: st.DrawFn, max_labels: int = 4) -> tuple[Labels, Labels]:
    """Draw a reference and a prediction of one shape, 1-D to 3-D."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=6))
    labels = hnp.arrays(np.int64, shape, elements=st.integers(0, max_labels))
    return draw(labels), draw(labels)


@st.composite
def overlaps(draw: st.DrawFn) -> pm.Overlap:
    """Draw the overlap of two small label images, some with void."""
    reference, prediction = draw(label_pairs())
    void = draw(st.none() | hnp.arrays(np.bool_, reference.shape))
    return pm.count_overlaps(reference, prediction, void)


strategies = st.sampled_from([*BY_NAME.values(), pm.SameId()])
thresholds = st.one_of(
    st.sampled_from([0.0, 0.1, 0.2, 0.25, 1 / 3, 0.5, 2 / 3, 0.75]),
    st.floats(0.0, 1.0, exclude_max=True),
)
