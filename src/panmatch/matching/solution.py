"""What a strategy answers at one threshold."""

from __future__ import annotations

from dataclasses import dataclass

from panmatch.matching.certificate import Certificate
from panmatch.overlap import Ints


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Positions of the matched edges, rising, and the proof of an optimal solver (D6)."""

    edges: Ints
    certificate: Certificate | None = None
