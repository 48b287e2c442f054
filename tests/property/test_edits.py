"""Random edits of a graph against a naive model: a list of rows, rebuilt from scratch at every step."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import symtrace as fx
from symtrace.errors import SymtraceError


@dataclass
class Naive:
    """A graph as plain data: keys in order, and for each key the keys that it uses."""

    order: list[int] = field(default_factory=list)
    inputs: dict[int, list[int]] = field(default_factory=dict)

    def users(self, key: int) -> list[int]:
        return [k for k in self.order if key in self.inputs[k]]

    def valid(self) -> bool:
        seen: set[int] = set()
        for key in self.order:
            if not set(self.inputs[key]) <= seen:
                return False
            seen.add(key)
        return True


class Edits(RuleBasedStateMachine):
    """The same edits on both; what the naive model finds wrong must be refused and change nothing."""

    @initialize()
    def start(self) -> None:
        self.graph = fx.Graph()
        self.nodes = {0: self.graph.placeholder("x"), 1: self.graph.placeholder("y")}
        self.nodes[2] = self.graph.call_function(operator.add, (self.nodes[0], self.nodes[1]))
        self.nodes[3] = self.graph.output(self.nodes[2])
        self.naive = Naive([0, 1, 2, 3], {0: [], 1: [], 2: [0, 1], 3: [2]})
        self.fresh = 4

    def _pick(self, number: int) -> int:
        return self.naive.order[number % len(self.naive.order)]

    def _attempt(self, changed: Naive, edit) -> None:
        """Do `edit`; it must succeed where `changed` is valid, and be refused where it is not."""
        if changed.valid():
            edit()
            self.naive = changed
        else:
            with pytest.raises(SymtraceError):
                edit()

    def _copy(self) -> Naive:
        return Naive(list(self.naive.order), {k: list(v) for k, v in self.naive.inputs.items()})

    @rule(where=st.integers(0, 99), a=st.integers(0, 99), b=st.integers(0, 99), after=st.booleans())
    def insert(self, where: int, a: int, b: int, after: bool) -> None:
        anchor, first, second = self._pick(where), self._pick(a), self._pick(b)
        position = self.naive.order.index(anchor) + after
        if position < 2 or position >= len(self.naive.order):
            return  # among the placeholders or behind the output: the graph has its own rule there
        changed = self._copy()
        changed.order.insert(position, self.fresh)
        changed.inputs[self.fresh] = [first, second]
        key = self.fresh

        def edit() -> None:
            point = self.graph.inserting_after if after else self.graph.inserting_before
            with point(self.nodes[anchor]):
                self.nodes[key] = self.graph.call_function(
                    operator.mul, (self.nodes[first], self.nodes[second])
                )

        self._attempt(changed, edit)
        self.fresh += 1

    @rule(which=st.integers(0, 99))
    def erase(self, which: int) -> None:
        key = self._pick(which)
        if key in (0, 1, 3):
            return
        if self.naive.users(key):
            with pytest.raises(SymtraceError):
                self.graph.erase_node(self.nodes[key])
            return
        self.graph.erase_node(self.nodes[key])
        self.naive.order.remove(key)
        del self.naive.inputs[key], self.nodes[key]

    @rule(which=st.integers(0, 99), slot=st.integers(0, 1), new=st.integers(0, 99))
    def change_argument(self, which: int, slot: int, new: int) -> None:
        key, value = self._pick(which), self._pick(new)
        if slot >= len(self.naive.inputs[key]):
            return
        changed = self._copy()
        changed.inputs[key][slot] = value
        self._attempt(changed, lambda: self.nodes[key].update_arg(slot, self.nodes[value]))

    @rule(old=st.integers(0, 99), new=st.integers(0, 99))
    def replace_all_uses(self, old: int, new: int) -> None:
        before, after = self._pick(old), self._pick(new)
        if before == after or 3 in (before, after):
            return
        changed = self._copy()
        for key in changed.order:
            changed.inputs[key] = [after if k == before else k for k in changed.inputs[key]]
        replaced = self.naive.users(before)
        if after in replaced:
            # a replacement that uses what it replaces may keep that use, or be refused
            try:
                self.nodes[before].replace_all_uses_with(self.nodes[after])
            except SymtraceError:
                return
            changed.inputs[after] = list(self.naive.inputs[after])
            assert changed.valid()
            self.naive = changed
            return
        self._attempt(changed, lambda: self.nodes[before].replace_all_uses_with(self.nodes[after]))

    @rule(which=st.integers(0, 99), where=st.integers(0, 99), before=st.booleans())
    def move(self, which: int, where: int, before: bool) -> None:
        key, anchor = self._pick(which), self._pick(where)
        if key == anchor or key in (0, 1, 3) or anchor in (0, 1) or (anchor == 3 and not before):
            return
        changed = self._copy()
        changed.order.remove(key)
        changed.order.insert(changed.order.index(anchor) + (not before), key)
        mover = self.nodes[anchor].prepend if before else self.nodes[anchor].append
        self._attempt(changed, lambda: mover(self.nodes[key]))

    @rule()
    def clean(self) -> None:
        self.graph.eliminate_dead_code()
        while dead := [k for k in self.naive.order if k > 3 or k == 2 if not self.naive.users(k)]:
            for key in dead:
                self.naive.order.remove(key)
                del self.naive.inputs[key], self.nodes[key]

    @invariant()
    def agree(self) -> None:
        if not hasattr(self, "graph"):
            return
        key_of = {node: key for key, node in self.nodes.items()}
        assert [key_of[n] for n in self.graph.nodes] == self.naive.order
        for node in self.graph.nodes:
            key = key_of[node]
            assert [key_of[n] for n in node.args] == self.naive.inputs[key]
            assert sorted(key_of[u] for u in node.users) == sorted(set(self.naive.users(key)))
            assert node.all_input_nodes == list(dict.fromkeys(node.args))
        names = [n.name for n in self.graph.nodes]
        assert len(set(names)) == len(names)
        ordered = list(self.graph.nodes)
        assert all(a < b for a, b in zip(ordered, ordered[1:], strict=False))
        self.graph.lint()


TestEdits = Edits.TestCase
TestEdits.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
