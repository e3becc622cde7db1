"""Label arrays: what counts as one, and how it is checked."""

from panmatch.labels.validation import LabelArray, as_labels, check_same_shape

__all__ = ["LabelArray", "as_labels", "check_same_shape"]
