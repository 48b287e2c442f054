"""Models of segmentation-models-pytorch, diffusers and torch_geometric: random weights, small configurations."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from zoo_case import Case

# ---------------------------------------------------------------------- segmentation-models-pytorch

_ARCHITECTURES = (
    "unet", "unetplusplus", "manet", "linknet", "fpn", "pspnet", "deeplabv3", "deeplabv3plus", "pan", "upernet",
    "segformer", "dpt",
)  # fmt: skip
_ENCODERS = (
    "mobilenet_v2",
    "efficientnet-b0",
    "densenet121",
    "vgg11_bn",
    "dpn68",
    "mit_b0",
    "timm-mobilenetv3_small_100",
)


def segmentation_names() -> list[str]:
    """Return the architectures, and one of them with other encoders."""
    return [*_ARCHITECTURES, *(f"unet:{encoder}" for encoder in _ENCODERS)]


def segmentation_case(name: str) -> Case:
    """Build a model of segmentation-models-pytorch."""
    import segmentation_models_pytorch as smp

    architecture, _, encoder = name.partition(":")
    is_fixed = architecture == "dpt"
    encoder = encoder or ("tu-vit_tiny_patch16_224" if is_fixed else "resnet18")
    given = {"encoder_depth": 4} if is_fixed else {}
    model = smp.create_model(architecture, encoder, encoder_weights=None, classes=2, **given).eval()

    def inputs(batch: int, length: int | None, seed: int) -> Any:
        generator = torch.Generator().manual_seed(seed)
        least = 128 if architecture == "pan" else 64
        size = 224 if is_fixed else max(least, 64 * round((length or least) / 64))
        return (torch.randn(batch, 3, size, size, generator=generator),), {}

    return Case(model, inputs, not is_fixed)


# ---------------------------------------------------------------------- diffusers


def _latents(channels: int, size: int = 16) -> Any:
    def made(batch: int, length: int | None, generator: torch.Generator) -> torch.Tensor:
        side = 2 * size if length else size
        return torch.randn(batch, channels, side, side, generator=generator)

    return made


def _steps(batch: int, length: int | None, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(1, 900, (batch,), generator=generator)


def _texts(width: int) -> Any:
    def made(batch: int, length: int | None, generator: torch.Generator) -> torch.Tensor:
        return torch.randn(batch, 11 if length else 7, width, generator=generator)

    return made


def _vectors(width: int) -> Any:
    def made(batch: int, length: int | None, generator: torch.Generator) -> torch.Tensor:
        return torch.randn(batch, width, generator=generator)

    return made


def _classes(batch: int, length: int | None, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(0, 9, (batch,), generator=generator)


_UNET = {
    "sample_size": 16, "block_out_channels": (32, 64), "layers_per_block": 1, "norm_num_groups": 8,
}  # fmt: skip
_CROSS = {
    **_UNET, "cross_attention_dim": 32, "attention_head_dim": 8,
    "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
}  # fmt: skip
_DIFFUSERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "UNet2DModel": (
        {**_UNET, "down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
         "up_block_types": ("AttnUpBlock2D", "UpBlock2D")},
        {"sample": _latents(3), "timestep": _steps}),
    "UNet2DConditionModel": (
        {**_CROSS, "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D")},
        {"sample": _latents(4), "timestep": _steps, "encoder_hidden_states": _texts(32)}),
    "ControlNetModel": (
        {**{key: value for key, value in _CROSS.items() if key != "sample_size"},
         "conditioning_embedding_out_channels": (16, 32)},
        {"sample": _latents(4), "timestep": _steps, "encoder_hidden_states": _texts(32),
         "controlnet_cond": _latents(3, 32)}),
    "AutoencoderKL": (
        {"block_out_channels": (16, 32), "norm_num_groups": 8, "down_block_types": ("DownEncoderBlock2D",) * 2,
         "up_block_types": ("UpDecoderBlock2D",) * 2},
        {"sample": _latents(3)}),
    "AutoencoderTiny": (
        {"encoder_block_out_channels": (16, 16), "decoder_block_out_channels": (16, 16), "num_encoder_blocks": (1, 1),
         "num_decoder_blocks": (1, 1)},
        {"sample": _latents(3)}),
    "VQModel": (
        {"block_out_channels": (16,), "norm_num_groups": 8, "num_vq_embeddings": 16},
        {"sample": _latents(3)}),
    "AsymmetricAutoencoderKL": (
        {"down_block_out_channels": (16,), "up_block_out_channels": (16,), "norm_num_groups": 8},
        {"sample": _latents(3)}),
    "Transformer2DModel": (
        {"in_channels": 32, "num_attention_heads": 2, "attention_head_dim": 16, "norm_num_groups": 8,
         "cross_attention_dim": 32},
        {"hidden_states": _latents(32), "encoder_hidden_states": _texts(32)}),
    "DiTTransformer2DModel": (
        {"sample_size": 16, "num_layers": 2, "num_attention_heads": 2, "attention_head_dim": 16, "in_channels": 4,
         "num_embeds_ada_norm": 1000},
        {"hidden_states": _latents(4), "timestep": _steps, "class_labels": _classes}),
    "PixArtTransformer2DModel": (
        {"sample_size": 16, "num_layers": 2, "num_attention_heads": 2, "attention_head_dim": 16, "in_channels": 4,
         "cross_attention_dim": 32, "caption_channels": 32, "use_additional_conditions": False},
        {"hidden_states": _latents(4), "timestep": _steps, "encoder_hidden_states": _texts(32)}),
    "SD3Transformer2DModel": (
        {"sample_size": 16, "num_layers": 2, "num_attention_heads": 2, "attention_head_dim": 16, "in_channels": 4,
         "joint_attention_dim": 32, "caption_projection_dim": 32, "pooled_projection_dim": 32, "out_channels": 4},
        {"hidden_states": _latents(4), "timestep": _steps, "encoder_hidden_states": _texts(32),
         "pooled_projections": _vectors(32)}),
    "UNet1DModel": (
        {"block_out_channels": (32, 64), "in_channels": 2, "out_channels": 2, "extra_in_channels": 64,
         "layers_per_block": 1, "down_block_types": ("DownBlock1DNoSkip", "DownBlock1D"),
         "up_block_types": ("UpBlock1D", "UpBlock1DNoSkip")},
        {"sample": lambda batch, length, generator: torch.randn(
            batch, 2, 128 if length else 64, generator=generator), "timestep": _steps}),
    "UNet3DConditionModel": (
        {**_UNET, "cross_attention_dim": 32, "attention_head_dim": 8,
         "down_block_types": ("CrossAttnDownBlock3D", "DownBlock3D"),
         "up_block_types": ("UpBlock3D", "CrossAttnUpBlock3D")},
        {"sample": lambda batch, length, generator: torch.randn(
            batch, 4, 3, 32 if length else 16, 16, generator=generator),
         "timestep": _steps, "encoder_hidden_states": _texts(32)}),
    "PriorTransformer": (
        {"num_attention_heads": 2, "attention_head_dim": 8, "num_layers": 2, "embedding_dim": 16, "num_embeddings": 7},
        {"hidden_states": _vectors(16), "timestep": _steps, "proj_embedding": _vectors(16),
         "encoder_hidden_states": lambda batch, length, generator: torch.randn(batch, 7, 16, generator=generator)}),
}  # fmt: skip


def diffusers_names() -> list[str]:
    """Return the classes of models."""
    return list(_DIFFUSERS)


def diffusers_case(name: str) -> Case:
    """Build a model of diffusers."""
    import diffusers

    config, makers = _DIFFUSERS[name]
    torch.manual_seed(0)
    model = getattr(diffusers, name)(**config).eval()

    def inputs(batch: int, length: int | None, seed: int) -> Any:
        generator = torch.Generator().manual_seed(seed)
        return (), {key: maker(batch, length, generator) for key, maker in makers.items()}

    return Case(model, inputs)


# ---------------------------------------------------------------------- torch_geometric

_CONVOLUTIONS = (
    "GCNConv", "SAGEConv", "GATConv", "GATv2Conv", "TransformerConv", "TAGConv", "SGConv", "ARMAConv", "GraphConv",
    "ResGatedGraphConv", "FeaStConv", "GENConv", "LEConv", "ClusterGCNConv",
)  # fmt: skip
_NETWORKS = ("GCN", "GraphSAGE", "GIN", "GAT", "EdgeCNN")


def geometric_names() -> list[str]:
    """Return models, and convolutions."""
    return [*_NETWORKS, *_CONVOLUTIONS]


class _Two(nn.Module):
    """Two convolutions with something between them."""

    def __init__(self, first: nn.Module, second: nn.Module) -> None:
        super().__init__()
        self.first = first
        self.second = second

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        """Return features of nodes."""
        return self.second(torch.relu(self.first(x, edge_index)), edge_index)  # type: ignore[no-any-return]


def geometric_case(name: str) -> Case:
    """Build a model of torch_geometric; its batch and length are numbers of nodes and edges."""
    import torch_geometric.nn as geometric

    if name in _NETWORKS:
        model: nn.Module = getattr(geometric, name)(8, 16, num_layers=2, out_channels=4)
    else:
        model = _Two(getattr(geometric, name)(8, 8), getattr(geometric, name)(8, 4))

    def inputs(batch: int, length: int | None, seed: int) -> Any:
        generator = torch.Generator().manual_seed(seed)
        nodes, edges = 5 * batch, 31 if length else 20
        return (
            torch.randn(nodes, 8, generator=generator),
            torch.randint(0, nodes, (2, edges), generator=generator),
        ), {}

    return Case(model.eval(), inputs)
