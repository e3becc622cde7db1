"""Classes of segments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from panmatch.errors import OptionError


@dataclass(frozen=True, slots=True)
class SegmentClass:
    """One class.

    Attributes
    ----------
    id
        Number of the class in the data.
    name
        What people call it.
    thing
        Whether its objects are counted one by one; otherwise it is stuff, one segment per image.
    parts
        Labels of its parts; one suffices for the class to have parts (D9).

    Examples
    --------
    >>> SegmentClass(24, "vertebra", parts=(1, 2)).has_parts
    True
    """

    id: int
    name: str = ""
    thing: bool = True
    parts: tuple[int, ...] = ()

    @property
    def has_parts(self) -> bool:
        """Whether it declares at least one part (D9)."""
        return bool(self.parts)


def check_classes(classes: Iterable[SegmentClass]) -> tuple[SegmentClass, ...]:
    """Return the classes if their ids differ and are not negative, or raise."""
    given = tuple(classes)
    ids = [one.id for one in given]
    twice = sorted({number for number in ids if ids.count(number) > 1})
    if twice:
        raise OptionError(f"classes: the id {twice[0]} is given to more than one class.")
    if not given or min(ids) < 0:
        raise OptionError(f"classes={ids} must be one or more ids of at least 0.")
    return given
