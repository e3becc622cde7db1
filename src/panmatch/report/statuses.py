"""What became of every object in a matching, in the words of the instance table."""

from __future__ import annotations

from panmatch.matching import Matching


def statuses_of(matching: Matching) -> tuple[dict[int, str], dict[int, str]]:
    """Return the status of every reference and of every prediction, by id.

    References are ``"matched"`` or ``"missed"``, predictions ``"matched"`` or
    ``"false positive"``; dismissed predictions (D10) have none.

    Examples
    --------
    >>> from panmatch.matching import match
    >>> from panmatch.overlap import Overlap
    >>> statuses_of(match(Overlap.from_dense([[5, 0], [0, 1]], [5, 5], [5, 5])))
    ({1: 'matched', 2: 'missed'}, {1: 'matched', 2: 'false positive'})
    """
    refs = dict.fromkeys(matching.overlap.ref_ids.tolist(), "matched")
    refs |= dict.fromkeys(matching.missed.tolist(), "missed")
    preds = dict.fromkeys(matching.pairs[:, 1].tolist(), "matched")
    preds |= dict.fromkeys(matching.false_positives.tolist(), "false positive")
    return refs, dict(sorted(preds.items()))
