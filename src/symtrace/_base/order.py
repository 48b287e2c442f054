"""Order-maintenance labels for a linked list: comparing two positions costs one integer comparison.

The relabelling rule is that of M. A. Bender, R. Cole, E. D. Demaine, M. Farach-Colton and J. Zito, *Two simplified
algorithms for maintaining order in a list*, ESA 2002: when two neighbours leave no room, the smallest enclosing
range of labels that is sparse enough is spread evenly.
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["STEP", "Linked", "label_between"]

STEP = 1 << 20
"""Distance between labels of items appended at the end."""

_DENSITY = 1.4  # between 1 and 2: larger values relabel wider ranges, more rarely


class Linked(Protocol):
    """An item of a circular doubly linked list whose sentinel has label -1."""

    _prev: Linked
    _next: Linked
    _order: int


def label_between(before: Linked, after: Linked) -> int:
    """Return a label for a new item between two neighbours, relabelling others if there is no room.

    Cost: amortised logarithmic in the length of the list.
    """
    low = before._order
    if after._order < 0:
        return low + STEP
    if after._order - low < 2:
        _make_room(before)
        low = before._order
        if after._order < 0:
            return low + STEP
    # Closer to the left neighbour: items are usually inserted one after the other in front of a fixed one.
    return low + max(1, (after._order - low) >> 4)


def _make_room(item: Linked) -> None:
    first = last = item
    count, bits = 1, 0
    base = item._order
    while True:
        bits += 1
        start = base >> bits << bits
        end = start + (1 << bits)
        while first._prev._order >= start:
            first, count = first._prev, count + 1
        while 0 <= last._next._order < end:
            last, count = last._next, count + 1
        if count < (2 / _DENSITY) ** bits and (1 << bits) // (count + 1) >= 64:
            break
    gap = (1 << bits) // (count + 1)
    label = start
    current = first
    while True:
        current._order = label
        if current is last:
            return
        label += gap
        current = current._next
