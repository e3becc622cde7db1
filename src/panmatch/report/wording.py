"""How strategies are named wherever people read about them: always with both bounds (D4)."""

from __future__ import annotations

from dataclasses import fields

from panmatch.evaluation.wording import title
from panmatch.matching import Strategy

SHORT_BOUNDS = "preds per ref : refs per pred"


def strategy_title(strategy: Strategy) -> tuple[str, tuple[str, str]]:
    """Return the name with its options, and the two degree bounds.

    Examples
    --------
    >>> from panmatch.matching import ManyToOne
    >>> strategy_title(ManyToOne(gate="edge"))
    ('many-to-one (merge, edge)', ('any preds per ref', '≤ 1 ref per pred'))
    """
    values = [getattr(strategy, field.name) for field in fields(strategy)]  # type: ignore[arg-type]
    options = [value for value in values if isinstance(value, str)]
    preds = "any preds" if strategy.max_preds_per_ref is None else "≤ 1 pred"
    refs = "any refs" if strategy.max_refs_per_pred is None else "≤ 1 ref"
    return title(strategy.name, options), (f"{preds} per ref", f"{refs} per pred")


def short_bounds(strategy: Strategy) -> str:
    """Return both bounds where room is scarce; `SHORT_BOUNDS` says what they count.

    Examples
    --------
    >>> from panmatch.matching import ManyToOne
    >>> short_bounds(ManyToOne())
    'any : ≤ 1'
    """
    bounds = (strategy.max_preds_per_ref, strategy.max_refs_per_pred)
    return " : ".join("any" if bound is None else f"≤ {bound}" for bound in bounds)
