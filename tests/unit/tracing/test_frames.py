"""What the instruction at a frame tells: on every Python, when code is hot, long or watched."""

import operator
import sys
import textwrap

import pytest

from symtrace.tracing.frames import (
    called_by_getattr,
    is_assert,
    is_compared_by_identity,
    is_unpacking_mapping,
    unpacked_length,
)


class Value:
    """Keeps what its frame was doing each time Python asked it something."""

    def __init__(self, made_by=None, seen=None):
        self.made_by = made_by
        self.seen = [] if seen is None else seen

    def __bool__(self):
        self.seen.append(is_assert(sys._getframe(1), self.made_by))
        return True

    def __iter__(self):
        count = unpacked_length(sys._getframe(1))
        self.seen.append(count)
        return iter([Value(None, self.seen)] * (count or 2))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self.seen.append(called_by_getattr(sys._getframe(1)))
        return Value(None, self.seen)

    def __call__(self, *args):
        return self

    def keys(self):
        self.seen.append(is_unpacking_mapping(sys._getframe(1)))
        return ["key"]

    def __getitem__(self, index):
        return Value(None, self.seen)

    def __eq__(self, other):
        return Value(operator.eq, self.seen)

    def __ne__(self, other):
        return Value(operator.ne, self.seen)

    def __lt__(self, other):
        return Value(operator.lt, self.seen)

    def __gt__(self, other):
        return Value(operator.gt, self.seen)

    __hash__ = None


class Asking(Value):
    """Passes every attribute on."""

    def __getattr__(self, name):
        return super().__getattr__(name)


def function(body):
    """Return a function of x and y with this body; pytest rewrites the asserts of this file, not those in text."""
    namespace = {"operator": operator, "Value": Value}
    exec(f"def f(x, y):\n{textwrap.indent(body, '    ')}", namespace)
    return namespace["f"]


def answers(body, kind=Value):
    x, y = kind(), kind()
    y.seen = x.seen
    function(body)(x, y)
    return x.seen


ASSERTS = {
    "assert x": [True],
    "assert x, 'message'": [True],
    "assert x == y": [True],
    "assert x < 3, 'message'": [True],
    "assert 3 < x": [True],
    "assert x != y": [True],
    "assert x and y": [True, True],
    "assert (z := x)": [True],
    "for i in range(2):\n    assert x": [True, True],
    "for i in range(1):\n    if i == 0:\n        assert x == y": [True],
    "while x:\n    assert y\n    break": [False, True],
    "try:\n    assert x\nfinally:\n    z = 1": [True],
    "with open('/dev/null') as file:\n    assert x": [True],
    "z = [i for i in range(2)]\nassert x": [True],
    "if x: pass": [False],
    "if not x: raise AssertionError": [False],
    "z = not x": [False],
    "z = x and y": [False],
    "z = 1 if x else 2": [False],
    "while x: break": [False],
    "z = bool(x)": [False],
    "if x == y: pass": [False],
    # These would go on with the opposite, or with something else than what was asked.
    "try:\n    assert not x\nexcept AssertionError: pass": [False],
    "assert x or y": [False],
    "assert not operator.not_(x)": [False],
    "try:\n    assert operator.not_(x)\nexcept AssertionError: pass": [False],
    "assert any([x, y])": [False],
    "assert bool(x)": [False],
    "assert x in [y]": [False],
    "try:\n    assert [x] != [y]\nexcept AssertionError: pass": [False],
    "try:\n    assert (x,) < (y,)\nexcept AssertionError: pass": [False],
}


@pytest.mark.parametrize("body", ASSERTS)
def test_the_condition_of_an_assert(body):
    assert answers(body) == ASSERTS[body]


def test_the_message_of_an_assert_is_not_its_condition():
    body = "try:\n    assert 0, bool(x)\nexcept AssertionError: pass"
    assert answers(body) == [False]


UNPACKING = {
    "a, b = x": [2],
    "[a, b, c] = x": [3],
    "a, = x": [1],
    "for a, b in [x, y]: pass": [2, 2],
    "(a, b), c = x, y": [2],
    "(a, b), c = x": [2, 2],
    "z = [i + j for i, j in [(1, 2)]]\na, b = x": [2],
    "a, *b = x": [None],
    "z = [*x]": [None],
    "z = list(x)": [None],
    "z = print(*x) if 0 else tuple(x)": [None],
    "for a in x: pass": [None],
    "z = [a for a in x]": [None],
    "a, b = tuple(x)": [None],
    "z = zip(x)": [None],
}


@pytest.mark.parametrize("body", UNPACKING)
def test_the_length_of_an_unpacking(body):
    assert answers(body) == UNPACKING[body]


@pytest.mark.parametrize("count", [255, 256, 300, 70_000])
def test_a_long_unpacking(count):
    body = "; ".join(f"({', '.join(['a'] * count)},) = {name}" for name in ("x", "y"))
    assert answers(body) == [count, count]


GETTING = {
    "x.name": [False],
    "x.name()": [False],
    "x.a.b": [False, False],
    "z = x.name if hasattr(y, 'name') else 0": [True, False],
    "getattr(x, 'name')": [True],
    "getattr(x, 'name', None)": [True],
    "getattr(*(x, 'name', None))": [True],
    "operator.attrgetter('name')(x)": [True],
    "hasattr(x, 'name')": [True],
    "z = f'{x.name.other!s:>0}'": [False, False],
    "print(x.name, file=open('/dev/null', 'w'))": [False],
    "match x:\n    case Value(name=z): pass": [True],
}


@pytest.mark.parametrize("kind", [Value, Asking])
@pytest.mark.parametrize("body", GETTING)
def test_attributes_asked_for_by_a_function(body, kind):
    assert answers(body, kind) == GETTING[body]


MAPPINGS = {
    "z = {**x}": [True],
    "z = {'a': 1, **x}": [True],
    "dict(**x)": [True],
    "dict(a=1, **x)": [True],
    "list(x.keys())": [False],
    "z = x.keys()": [False],
    "dict(x)": [False],
}


@pytest.mark.parametrize("body", MAPPINGS)
def test_a_mapping_that_is_unpacked(body):
    assert answers(body) == MAPPINGS[body]


FILLER = "\n".join(f"v{i} = {i}.5" for i in range(400))


class Compared(Value):
    def __getattr__(self, name):
        self.seen.append(is_compared_by_identity(sys._getframe(1)))
        return 1


IDENTITY = {
    "z = x.grad is None": [True],
    "if x.grad is None: pass": [True],
    "if x.grad is not None: z = 1": [True],
    "while x.grad is None: break": [True],
    "z = x.dtype is int": [True],
    "z = int is x.dtype": [True],
    "z = y is x.dtype": [True],
    "z = getattr(x, 'grad', None) is None": [True],
    "g = x.grad\nif g is None: z = 1": [True],
    "g = x.dtype\nh = y\nz = h is g": [True],
    "g = x.dtype\nz = 1\nz = g is z": [True],
    "g = x.dtype\nf = lambda: g\nz = g is None": [True],
    "z = x.grad": [False],
    "z = repr(x.grad)": [False],
    "z = x.grad + 1": [False],
    "z = x.dtype == y": [False],
    "g = x.grad\nz = y is None": [False],
    "g = x.grad\nz = repr(g), y is None": [False],
}


@pytest.mark.parametrize("body", IDENTITY)
def test_attributes_compared_by_identity(body):
    for _ in range(20):
        assert answers(body, Compared) == IDENTITY[body]
    assert (
        answers(f"{FILLER}\nfor _ in range(1):\n{textwrap.indent(body, '    ')}", Compared) == IDENTITY[body]
    )


ALL = {**ASSERTS, **UNPACKING, **GETTING, **MAPPINGS}


@pytest.mark.parametrize("body", ALL)
def test_hot_code_gives_the_same_answers(body):
    f = function(body)
    for _ in range(100):
        x = Value()
        f(x, Value(None, x.seen))
        assert x.seen == ALL[body]


@pytest.mark.parametrize("body", ALL)
def test_hot_loops_give_the_same_answers(body):
    f = function("for _ in range(60):\n" + textwrap.indent(body, "    ") + "\n    z = 0")
    x = Value()
    f(x, Value(None, x.seen))
    assert x.seen == ALL[body] * 60


@pytest.mark.parametrize("body", ALL)
def test_long_functions_give_the_same_answers(body):
    """Jumps, names and constants have numbers above 255, which takes a prefix."""
    body_in_a_loop = f"{FILLER}\nfor _ in range(1):\n{textwrap.indent(body, '    ')}\n{FILLER}"
    assert answers(body_in_a_loop) == ALL[body]
    long_jumps = f"if v0:\n{textwrap.indent(body, '    ')}\n{textwrap.indent(FILLER, '    ')}"
    assert answers(f"{FILLER}\n{long_jumps}") == ALL[body]


@pytest.mark.parametrize("body", ALL)
def test_watched_code_gives_the_same_answers(body):
    """Coverage tools and debuggers put instructions of their own in the place of the program's."""

    def watch(frame, event, arg):
        frame.f_trace_opcodes = True
        return watch

    f, x = function(body), Value()
    before = sys.gettrace()
    sys.settrace(watch)
    try:
        f(x, Value(None, x.seen))
    finally:
        sys.settrace(before)
    assert x.seen == ALL[body]
