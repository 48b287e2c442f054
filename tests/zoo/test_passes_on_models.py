"""Passes on real models: the result computes the same."""

import copy

import pytest
import torch
from torch import nn

from symtrace import symbolic_trace
from symtrace.experimental.const_fold import split_const_subgraphs
from symtrace.experimental.normalize import NormalizeArgs, NormalizeOperators
from symtrace.experimental.optimization import fuse
from symtrace.passes.dialect.common.cse_pass import CSEPass
from symtrace.passes.infra.partitioner import CapabilityBasedPartitioner
from symtrace.passes.operator_support import create_op_support
from symtrace.passes.shape_prop import ShapeProp
from symtrace.passes.split_module import split_module

from .weights import built

models = pytest.importorskip("torchvision.models")
pytestmark = pytest.mark.zoo

NAMES = [
    "resnet18",
    "mobilenet_v3_small",
    "densenet121",
    "efficientnet_b0",
    "shufflenet_v2_x1_0",
    "squeezenet1_0",
]


@pytest.fixture(scope="module", params=NAMES)
def case(request):
    model = built(getattr(models, request.param)).eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-0.1, 0.1)
            module.running_var.uniform_(0.8, 1.2)
    x = torch.rand(2, 3, 64, 64)
    with torch.no_grad():
        return model, symbolic_trace(model), x, model(x)


def check(case, module):
    _, _, x, expected = case
    with torch.no_grad():
        torch.testing.assert_close(module(x), expected, atol=1e-4, rtol=1e-3)


def test_fusing(case):
    fused = fuse(case[0])
    check(case, fused)
    pairs = sum(isinstance(m, nn.BatchNorm2d) for m in case[0].modules())
    assert pairs == 0 or sum(isinstance(m, nn.BatchNorm2d) for m in fused.modules()) < pairs


def test_splitting(case):
    gm = case[1]
    place = {node: index for index, node in enumerate(gm.graph.nodes)}
    check(case, split_module(gm, None, lambda node: place[node] * 5 // len(place)))


def test_partitioning(case):
    gm = copy.deepcopy(case[1])
    support = create_op_support(
        lambda modules, node: isinstance(modules.get(node.target), nn.Conv2d | nn.BatchNorm2d)
    )
    partitioner = CapabilityBasedPartitioner(gm, support, allows_single_node_partition=True)
    assert partitioner.propose_partitions()
    check(case, partitioner.partition_and_fuse())
    gm.graph.lint()


def test_normal_forms_merging_and_folding(case):
    gm = case[1]
    ShapeProp(gm).propagate(case[2])
    for module in (
        NormalizeArgs(gm).transform(),
        NormalizeOperators(gm).transform(),
        CSEPass()(gm).graph_module,
        split_const_subgraphs(gm),
    ):
        check(case, module)
