"""A place for one thing, where the newest takes the place of the one before."""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

T = TypeVar("T")


class Newest(Generic[T]):
    """Hands over the newest item; what nobody took before it came is dropped.

    Examples
    --------
    >>> async def last_of(items: list[int]) -> int:
    ...     place = Newest[int]()
    ...     for item in items:
    ...         place.put(item)
    ...     return await place.take()
    >>> asyncio.run(last_of([1, 2, 3]))
    3
    """

    def __init__(self) -> None:
        self._items: list[T] = []
        self._some = asyncio.Event()

    @property
    def waiting(self) -> bool:
        """Whether an item is there that nobody has taken."""
        return bool(self._items)

    def put(self, item: T) -> None:
        """Leave an item, in place of one that still waits."""
        self._items[:] = [item]
        self._some.set()

    async def take(self) -> T:
        """Return the newest item, as soon as there is one."""
        await self._some.wait()
        self._some.clear()
        return self._items.pop()
