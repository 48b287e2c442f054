"""Functions of torch and torch.nn.functional."""

import torch
import torch.nn.functional as F

from ..program import B, Corpus, I, P, T

corpus = Corpus("functions")

_TORCH = {
    "relu": lambda x: torch.relu(x),
    "sigmoid": lambda x: torch.sigmoid(x),
    "add_alpha": lambda x: torch.add(x, x, alpha=3),
    "cat": lambda x: torch.cat([x, x], 1),
    "cat_tuple_keyword": lambda x: torch.cat((x, x * 2), dim=0),
    "stack": lambda x: torch.stack([x, x + 1], dim=-1),
    "split_parts": lambda x: torch.split(x, 2, dim=1)[0],
    "chunk_parts": lambda x: torch.chunk(x, 2, dim=0)[0],
    "sum": lambda x: torch.sum(x, dim=1, keepdim=True),
    "mean_dims": lambda x: torch.mean(x, [0, 1]),
    "max_elementwise": lambda x: torch.max(x, x * 2),
    "amax": lambda x: torch.amax(x, dim=(0, 1)),
    "flatten_start": lambda x: torch.flatten(x, 1),
    "flatten_keyword": lambda x: torch.flatten(x, start_dim=1),
    "matmul": lambda x: torch.matmul(x, x.transpose(-1, -2)),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "einsum_list": lambda x: torch.einsum("ij->ji", [x]),
    "where_scalar": lambda x: torch.where(x > 0, x, 0.0),
    "clamp": lambda x: torch.clamp(x, -1, 1),
    "transpose": lambda x: torch.transpose(x, 0, 1),
    "permute": lambda x: torch.permute(x, (1, 0)),
    "unsqueeze": lambda x: torch.unsqueeze(x, 0),
    "unbind_first": lambda x: torch.unbind(x, 0)[0],
    "sort": lambda x: torch.sort(x, descending=True).values,
    "topk": lambda x: torch.topk(x, k=2)[1],
    "cumsum": lambda x: torch.cumsum(x, dim=0),
    "logsumexp": lambda x: torch.logsumexp(x, 1),
    "norm": lambda x: torch.norm(x, dim=1),
    "linalg_norm": lambda x: torch.linalg.norm(x),
    "linalg_inv": lambda x: torch.linalg.inv(x @ x.T + 10 * torch.eye(2)),
    "special_expit": lambda x: torch.special.expit(x),
    "fft": lambda x: torch.fft.fft(x).abs(),
    "zeros_like": lambda x: torch.zeros_like(x, dtype=torch.int64),
    "full_like": lambda x: torch.full_like(x, 2),
    "ones_like_add": lambda x: torch.ones_like(x) + x,
    "outer": lambda x: torch.outer(x[0], x[1]),
    "roll": lambda x: torch.roll(x, shifts=(1, 2), dims=(0, 1)),
    "meshgrid": lambda x: torch.meshgrid(x[0], x[1], indexing="ij")[0],
    "broadcast": lambda x: torch.broadcast_tensors(x, x[:1])[1],
    "squeeze_all": lambda x: torch.squeeze(x[None]),
    "atan2": lambda x: torch.atan2(x, x + 1),
    "lerp": lambda x: torch.lerp(x, x * 2, 0.25),
    "addcmul": lambda x: torch.addcmul(x, x, x, value=0.5),
    "bitwise_on_masks": lambda x: torch.logical_and(x > 0, x < 1),
    "cdist": lambda x: torch.cdist(x, x),
    "tril": lambda x: torch.tril(x, diagonal=-1),
    "count_nonzero": lambda x: torch.count_nonzero(x > 0),
    "relu_inplace": lambda x: torch.relu_(x.clone()),
    "aten_overload": lambda x: torch.ops.aten.add.Tensor(x, x),
    "aten_packet": lambda x: torch.ops.aten.mul(x, 2),
    "is_tensor_nested_call": lambda x: torch.relu(torch.neg(torch.tanh(x))),
    "var_mean": lambda x: torch.var_mean(x, dim=1)[1],
    "tensordot": lambda x: torch.tensordot(x, x, dims=([1], [1])),
    "functional_namespace": lambda x: torch.nn.functional.relu(x),
    "isfinite": lambda x: torch.isfinite(x),
    "allclose_like": lambda x: torch.isclose(x, x + 1e-9),
    "numel": lambda x: torch.numel(x),
    "bucketize": lambda x: torch.bucketize(x, x[0].sort()[0]),
    "out_argument": lambda x: torch.add(x, 1, out=x.clone()),
}
_DIFFERS = {
    "linalg_inv": "Tensor factories are nodes",
    "einsum_list": "Calls are recorded as they are written",
}
for _name, _fn in _TORCH.items():
    corpus.add(_name, _fn, T(2, 3), also=((T(2, 4),),), differs=_DIFFERS.get(_name))

_FUNCTIONAL = {
    "F_relu": lambda x: F.relu(x),
    "F_relu_inplace": lambda x: F.relu(x.clone(), inplace=True),
    "F_relu6": lambda x: F.relu6(x),
    "F_gelu": lambda x: F.gelu(x),
    "F_gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "F_silu": lambda x: F.silu(x),
    "F_elu": lambda x: F.elu(x, alpha=0.5),
    "F_leaky_relu": lambda x: F.leaky_relu(x, 0.2),
    "F_hardswish": lambda x: F.hardswish(x),
    "F_softplus": lambda x: F.softplus(x, beta=2),
    "F_softmax": lambda x: F.softmax(x, dim=-1),
    "F_log_softmax": lambda x: F.log_softmax(x, dim=1, dtype=torch.float64),
    "F_normalize": lambda x: F.normalize(x, dim=1),
    "F_layer_norm": lambda x: F.layer_norm(x, (4,)),
    "F_group_norm": lambda x: F.group_norm(x, 1),
    "F_pad": lambda x: F.pad(x, (1, 1)),
    "F_pad_value": lambda x: F.pad(x, [1, 2], value=-1.0),
    "F_max_pool1d": lambda x: F.max_pool1d(x[None], 2),
    "F_avg_pool1d": lambda x: F.avg_pool1d(x[None], 2, stride=1),
    "F_adaptive_avg_pool1d": lambda x: F.adaptive_avg_pool1d(x[None], 2),
    "F_interpolate": lambda x: F.interpolate(x[None], scale_factor=2.0, mode="nearest"),
    "F_dropout_off": lambda x: F.dropout(x, 0.5, training=False),
    "F_mse_loss": lambda x: F.mse_loss(x, x * 2),
    "F_smooth_l1": lambda x: F.smooth_l1_loss(x, x + 1, reduction="sum"),
    "F_cosine": lambda x: F.cosine_similarity(x, x + 1, dim=0),
    "F_sdpa": lambda x: F.scaled_dot_product_attention(x, x, x),
    "F_threshold": lambda x: F.threshold(x, 0.1, 20),
    "F_glu": lambda x: F.glu(x),
    "F_logsigmoid": lambda x: F.logsigmoid(x),
    "F_mish": lambda x: F.mish(x),
    "F_instance_norm": lambda x: F.instance_norm(x[None]),
    "F_tanh": lambda x: F.tanh(x),
    "F_unfold": lambda x: F.unfold(x[None, None], 2),
}
for _name, _fn in _FUNCTIONAL.items():
    corpus.add(_name, _fn, T(3, 4), also=((T(5, 4),),))

corpus.add("F_linear", lambda x, w: F.linear(x, w), T(2, 3), T(4, 3))
corpus.add("F_linear_bias", lambda x, w, b: F.linear(x, w, b), T(2, 3), T(4, 3), T(4))
corpus.add("F_conv1d", lambda x, w: F.conv1d(x, w, padding=1), T(1, 2, 5), T(3, 2, 3))
corpus.add("F_conv2d", lambda x, w, b: F.conv2d(x, w, b, stride=2), T(1, 2, 5, 5), T(3, 2, 3, 3), T(3))
corpus.add("F_conv2d_same", lambda x, w: F.conv2d(x, w, padding="same"), T(1, 2, 5, 5), T(3, 2, 3, 3))
corpus.add("F_conv_transpose", lambda x, w: F.conv_transpose1d(x, w), T(1, 2, 5), T(2, 3, 3))
corpus.add("F_batch_norm", lambda x, m, v: F.batch_norm(x, m, v), T(2, 3), T(3), P(3))
corpus.add("F_embedding", lambda i, w: F.embedding(i, w), I(2, 3), T(5, 2))
corpus.add("F_embedding_bag", lambda i, w: F.embedding_bag(i, w, mode="sum"), I(2, 3), T(5, 2))
corpus.add("F_cross_entropy", lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1), T(4, 5), I(4))
corpus.add("F_nll", lambda x, y: F.nll_loss(F.log_softmax(x, 1), y), T(4, 5), I(4))
corpus.add("F_bce", lambda x, y: F.binary_cross_entropy_with_logits(x, y), T(4), P(4))
corpus.add("F_kl_div", lambda x, y: F.kl_div(x, y, reduction="batchmean"), T(4, 2), P(4, 2))
corpus.add("F_one_hot", lambda i: F.one_hot(i, 5), I(4))
corpus.add("F_bilinear", lambda x, y, w: F.bilinear(x, y, w), T(4, 2), T(4, 3), T(5, 2, 3))
corpus.add(
    "F_grid_sample", lambda x, g: F.grid_sample(x, g, align_corners=False), T(1, 1, 4, 4), T(1, 2, 2, 2)
)
corpus.add("F_max_pool2d_indices", lambda x: F.max_pool2d(x, 2, return_indices=True), T(1, 1, 4, 4))
corpus.add("F_pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), T(1, 4, 2, 2))
corpus.add("bmm", lambda x, y: torch.bmm(x, y), T(2, 3, 4), T(2, 4, 3))
corpus.add("addmm", lambda b, x, y: torch.addmm(b, x, y), T(2), T(3, 4), T(4, 2))
corpus.add("gather", lambda x, i: torch.gather(x, 0, i), T(4), I(3))
corpus.add("index_select", lambda x, i: torch.index_select(x, 0, i), T(4, 2), I(3))
corpus.add("scatter_add", lambda x, i, s: torch.scatter_add(x, 0, i, s), T(5), I(3), T(3))
corpus.add("masked_select", lambda x, m: torch.masked_select(x, m), T(4), B(4))
corpus.add("where", lambda m, x, y: torch.where(m, x, y), B(3), T(3), T(3))
corpus.add("searchsorted", lambda x, y: torch.searchsorted(x.sort()[0], y), T(5), T(3))

_FACTORY = "Tensor factories are nodes"
_RANDOM = "Random draws are nodes"
_BUILT = {
    "zeros": (lambda x: x + torch.zeros(3), _FACTORY),
    "ones_with_dtype": (lambda x: x + torch.ones(3, dtype=torch.float64), _FACTORY),
    "tensor_literal": (lambda x: x * torch.tensor([1.0, 2.0, 3.0]), _FACTORY),
    "tensor_scalar": (lambda x: x * torch.tensor(2.0), _FACTORY),
    "arange": (lambda x: x + torch.arange(3), _FACTORY),
    "full": (lambda x: x + torch.full((3,), 7.0), _FACTORY),
    "eye": (lambda x: x @ torch.eye(3), _FACTORY),
    "linspace": (lambda x: x + torch.linspace(0, 1, 3), _FACTORY),
    "as_tensor": (lambda x: x + torch.as_tensor([1, 2, 3]), _FACTORY),
    "factory_then_function": (lambda x: x + torch.exp(torch.arange(3.0)), _FACTORY),
    "factory_returned": (lambda x: (x, torch.zeros(2)), _FACTORY),
    "factory_filled": (lambda x: torch.zeros(3).add_(x[0]), _FACTORY),
    "factory_on_device": (lambda x: torch.ones(3, device="cpu") + x, _FACTORY),
    "triu_mask": (lambda x: x.masked_fill(torch.triu(torch.ones(3, 3))[0].bool(), 0.0), _FACTORY),
    "rand": (lambda x: x + torch.rand(3), _RANDOM),
    "randn": (lambda x: x + torch.randn(1, 3), _RANDOM),
    "randint": (lambda x: x + torch.randint(0, 5, (3,)), _RANDOM),
    "randperm": (lambda x: x[:, torch.randperm(3)], _RANDOM),
    "normal": (lambda x: x + torch.normal(0.0, 1.0, (3,)), _RANDOM),
    "bernoulli_on_constant": (lambda x: x * torch.bernoulli(torch.full((3,), 0.5)), _RANDOM),
    "empty_normal_": (lambda x: x + torch.empty(3).normal_(), _RANDOM),
}
for _name, (_fn, _why) in _BUILT.items():
    corpus.add(_name, _fn, T(2, 3), also=((T(3, 3),),), differs=_why)

_DRAWS = {
    "rand_like": lambda x: x + torch.rand_like(x),
    "randn_like": lambda x: torch.randn_like(x) * x,
    "bernoulli": lambda x: torch.bernoulli(torch.sigmoid(x)),
    "multinomial": lambda x: torch.multinomial(x.exp(), 2),
    "normal_": lambda x: x.clone().normal_(),
    "uniform_": lambda x: torch.empty_like(x).uniform_(),
    "bernoulli_": lambda x: x.clone().bernoulli_(0.5),
    "dropout": lambda x: F.dropout(x, 0.5),
    "torch_dropout": lambda x: torch.dropout(x, 0.3, True),
    "dropout_twice": lambda x: F.dropout(x) + F.dropout(x),
    "rrelu": lambda x: F.rrelu(x, training=True),
    "gumbel_softmax": lambda x: torch.rand_like(x).log().neg().add(x).softmax(-1),
}
for _name, _fn in _DRAWS.items():
    corpus.add(f"draw_{_name}", _fn, T(3, 4), also=((T(2, 4),),))
