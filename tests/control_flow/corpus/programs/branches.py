"""`if`, `elif`, `else`, early returns, and what branches assign."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from ..program import program, t

UP, DOWN, FLAT = t(1.0, 2.0, 3.0), t(-1.0, -2.0, -3.0), t(0.0, 0.0, 0.0)
BIG = t(10.0, 20.0, 30.0)


@program(UP, DOWN)
def assigned_both_ways(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y + x


@program(UP, DOWN)
def assigned_before_and_in_one_branch(x):
    y = x + 1
    if x.sum() > 0:
        y = y * 3
    return y


@program(UP, DOWN)
def only_else_assigns(x):
    y = x
    if x.sum() > 0:
        pass
    else:
        y = -x
    return y


@program(UP, DOWN, FLAT, BIG)
def elif_chain(x):
    s = x.sum()
    if s > 20:
        y = x / 2
    elif s > 0:
        y = x * 2
    elif s == 0:
        y = x + 1
    else:
        y = -x
    return y


@program(UP, DOWN)
def early_return(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


@program(UP, DOWN)
def early_return_then_more(x):
    y = x.exp()
    if x.sum() > 0:
        return y
    y = y + 1
    z = y * x
    return z.sin()


@program(UP, DOWN, FLAT, BIG)
def many_returns(x):
    if x.sum() > 20:
        return x
    if x.sum() > 0:
        return x + 1
    if x.sum() < 0:
        return x + 2
    return x + 3


@program(UP, DOWN, BIG, FLAT)
def nested_ifs(x):
    if x.sum() > 0:
        if x.max() > 5:
            y = x * 2
        else:
            y = x * 3
    else:
        if x.min() < 0:
            y = x * 4
        else:
            y = x * 5
    return y


@program(UP, DOWN, BIG)
def return_from_nested(x):
    if x.sum() > 0:
        if x.max() > 5:
            return x * 2
        x = x + 1
    return x * 7


@program(UP, DOWN)
def two_variables(x):
    if x.sum() > 0:
        a, b = x, x * 2
    else:
        a, b = x * 3, x
    return a - b, a + b


@program(UP, DOWN)
def swapped_in_a_branch(x):
    a, b = x, x * 2
    if x.sum() > 0:
        a, b = b, a
    return a - b


@program(UP, DOWN)
def reassigned_input(x):
    if (x > 0).all():
        x = x.sqrt()
    return x * x


@program(UP, DOWN)
def tensor_as_condition(x):
    if (x > 0).any():
        return x.cos()
    return x.sin()


@program(UP, DOWN)
def item_as_condition(x):
    if x.sum().item() > 0:
        return x.cos()
    return x.sin()


@program(UP, DOWN)
def bool_of_tensor(x):
    flag = bool(x.sum() > 0)
    if flag:
        return x + 1
    return x + 2


@program(UP, DOWN)
def negated(x):
    if not (x.sum() > 0):
        return x + 1
    return x + 2


@program((UP, DOWN), (DOWN, UP), (UP, UP), (DOWN, DOWN))
def two_inputs(x, y):
    if x.sum() > y.sum():
        return x - y
    return y * x


@program(UP, DOWN)
def same_decision_twice(x):
    positive = x.sum() > 0
    if positive:
        x = x + 1
    y = x * 2
    if positive:
        y = y - 1
    return y


@program(UP, DOWN)
def decisions_in_a_row(x):
    if x[0] > 0:
        x = x + 1
    if x[1] > 0:
        x = x * 2
    if x[2] > 0:
        x = x - 3
    return x


@program(UP, DOWN)
def tuple_results(x):
    if x.sum() > 0:
        pair = (x, x + 1)
    else:
        pair = (x * 2, x)
    a, b = pair
    return a * b


@program(UP, DOWN)
def dict_results(x):
    if x.sum() > 0:
        out = {"a": x, "b": x + 1}
    else:
        out = {"a": x * 2, "b": x}
    return out


@program(UP, DOWN)
def numbers_as_results(x):
    if x.sum() > 0:
        scale = 2.0
    else:
        scale = 0.5
    return x * scale


@program(UP, DOWN)
def equal_numbers(x):
    if x.sum() > 0:
        scale, y = 2, x
    else:
        scale, y = 2, -x
    return y * scale


@program(UP, DOWN)
def integers_as_results(x):
    k = 1
    if x.sum() > 0:
        k = 2
    return x + k


@program(UP, DOWN)
def in_place_in_branch(x):
    y = x * 1
    if x.sum() > 0:
        y += 1
    else:
        y.mul_(2)
    return y


@program(UP, DOWN)
def item_assignment_in_branch(x):
    y = x.clone()
    if x.sum() > 0:
        y[0] = 5.0
    return y * x


@program(UP, DOWN)
def alias_written_in_branch(x):
    y = x.clone()
    view = y[1:]
    if x.sum() > 0:
        view.add_(10)
    return y.sum() + view.sum()


@program(UP, DOWN)
def input_written_in_branch(x):
    z = x * 1
    if z.sum() > 0:
        z.neg_()
    return z + z


@program(UP, DOWN)
def raises_in_branch(x):
    if x.sum() < 0:
        raise ValueError("negative input")
    return x.sqrt()


@program(UP, DOWN)
def raises_in_else(x):
    if x.sum() > 0:
        y = x.sqrt()
    else:
        raise RuntimeError("not positive")
    return y + 1


@program(UP, DOWN, BIG)
def raise_of_three(x):
    if x.sum() > 20:
        raise ValueError("too large")
    elif x.sum() > 0:
        y = x
    else:
        y = -x
    return y


@program(UP, DOWN)
def clipped_by_norm(x):
    norm = x.norm()
    if norm > 4.0:
        x = x * (4.0 / norm)
    return x


@program(UP, t(0.1, 0.2, 0.3))
def clipped_by_norm_small(x):
    norm = x.norm()
    if norm > 1.0:
        x = x / norm
    return x


@program(UP, DOWN)
def random_on_one_path(x):
    if x.sum() > 0:
        x = x + torch.rand(3)
    return x + torch.rand(3)


@program(UP, DOWN)
def random_on_both_paths(x):
    if x.sum() > 0:
        noise = torch.rand(3)
    else:
        noise = torch.randn(3)
    return x + noise


@program(UP, DOWN)
def dropout_on_one_path(x):
    if x.sum() > 0:
        return F.dropout(x, 0.5, training=True)
    return x


@program(UP, DOWN)
def no_grad_in_branch(x):
    if x.sum() > 0:
        with torch.no_grad():
            y = x * 2
    else:
        y = x * 3
    return y + x


@program(UP, DOWN)
def branch_inside_no_grad(x):
    with torch.no_grad():
        if x.sum() > 0:
            scale = x.max()
        else:
            scale = x.min()
    return x * scale


@program(UP, DOWN)
def factories_in_branches(x):
    if x.sum() > 0:
        base = torch.zeros(3)
    else:
        base = torch.ones(3)
    base += x
    return base


@program(UP, DOWN)
def detached_in_branch(x):
    if x.sum() > 0:
        x = x.detach() * x
    return x * 2


@program(UP, DOWN)
def unused_result(x):
    if x.sum() > 0:
        y = x.exp()
    else:
        y = x.log()
    del y
    return x * 2


@program(UP, DOWN)
def nothing_done(x):
    if x.sum() > 0:
        pass
    return x * 2


@program(UP, DOWN)
def variable_of_one_branch(x):
    if x.sum() > 0:
        y = x * 2
    if x.sum() > 0:
        return y
    return x


@program(UP, DOWN)
def late_unassigned(x):
    if x.sum() > 0:
        y = x * 2
    return y + 1


@program(UP, DOWN)
def none_or_tensor(x):
    y = None
    if x.sum() > 0:
        y = x * 2
    if y is not None:
        return y
    return x


@program(UP, DOWN)
def augmented(x):
    total = 0
    if x.sum() > 0:
        total += 1
    if x.max() > 2:
        total += 1
    return x * total


@program((UP, 1), (DOWN, 1))
def plain_condition_stays(x, k):
    for i in range(3):
        if i % 2 == 0:
            x = x + i
        else:
            x = x * i
    if x.sum() > 0:
        return x
    return -x


@program(UP, DOWN)
def walrus(x):
    if (s := x.sum()) > 0:
        return x / s
    return x * s


@program(UP, DOWN, FLAT)
def matched(x):
    match int(x.sum().sign().item()):
        case 1:
            return x * 2
        case 0:
            return x + 5
        case _:
            return x - 1


@program(UP, DOWN)
def matched_with_guard(x):
    match x:
        case _ if x.sum() > 0:
            y = x
        case _:
            y = -x
    return y


@program(UP, DOWN)
def asserted(x):
    assert x.sum() > 0, "sum must be positive"
    return x.sqrt()


@program(UP, DOWN)
def asserted_with_value(x):
    assert (x > 0).all()
    return x.log()


@program(UP, DOWN)
def docstring_and_default(x, scale=2.0):
    """Text."""
    if x.sum() > 0:
        return x * scale
    return x / scale


@program((UP, {"k": t(1.0)}), (DOWN, {"k": t(1.0)}))
def dict_input(x, options):
    if x.sum() > options["k"].sum():
        return x + options["k"]
    return x - options["k"]


@program(t(1.0, 2.0), t(1.0, 2.0, 3.0))
def decision_on_a_size(x):
    if x.shape[0] > 2:
        return x * 2
    return x - 1


@program(torch.ones(2, 2), torch.ones(2))
def decision_on_dim(x):
    if x.dim() == 2:
        x = x.sum(1)
    return x + 1
