"""The record of what a call does besides computing its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["ALIAS", "BARRIER", "CHECK", "OPAQUE", "PURE", "RANDOM", "Effect", "is_removable"]


@dataclass(frozen=True)
class Effect:
    """What a call does besides computing its result.

    Attributes:
        mutates: Arguments that are written to: a position, or a keyword name.
        random: The call draws random numbers, so it moves the state of a generator.
        impure: The call has another effect, or nothing is known of it.
        writes_state: The called module writes to its own parameters or buffers.
        returns_alias: The result may share storage with an argument or with a tensor of the module.
        barrier: The call changes a mode under which later calls run, such as gradients or autocast; nothing
            may be moved across it.
    """

    mutates: tuple[int | str, ...] = ()
    random: bool = False
    impure: bool = False
    writes_state: bool = False
    returns_alias: bool = False
    barrier: bool = False
    check: bool = False

    @property
    def is_pure(self) -> bool:
        """Whether equal arguments give equal results and nothing else happens."""
        others = self.impure or self.writes_state or self.barrier or self.check
        return not (self.mutates or self.random or others)

    def written(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the arguments of one call that it writes to.

        Args:
            args: Positional arguments of the call.
            kwargs: Keyword arguments of the call.

        >>> Effect(mutates=(0,)).written(("x", 1), {})
        ('x',)
        """
        values: list[Any] = []
        for key in self.mutates:
            if isinstance(key, str):
                if key in kwargs:
                    values.append(kwargs[key])
            elif key < len(args):
                values.append(args[key])
            else:  # passed by keyword under a name that is not known here: any of them may be it
                values.extend(kwargs.values())
        return tuple(values)


PURE = Effect()
ALIAS = Effect(returns_alias=True)
RANDOM = Effect(random=True)
OPAQUE = Effect(impure=True, returns_alias=True)
BARRIER = Effect(impure=True, returns_alias=True, barrier=True)
CHECK = Effect(check=True)


def is_removable(effect: Effect, *, keep_random: bool = True) -> bool:
    """Return whether a call with this effect may go when nothing uses its result.

    Args:
        effect: Effect of the call.
        keep_random: Random draws stay, since later draws depend on them.

    >>> is_removable(Effect(mutates=(0,)))
    False
    """
    return effect.is_pure or (
        not keep_random and effect == Effect(random=True, returns_alias=effect.returns_alias)
    )
