"""The models of the zoo: real architectures with random weights and small configurations."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import os
import warnings
from collections.abc import Callable
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")
warnings.filterwarnings("ignore")

import torch  # noqa: E402
from torch import nn  # noqa: E402
from zoo_case import Case  # noqa: E402
from zoo_packages import (  # noqa: E402
    diffusers_case,
    diffusers_names,
    geometric_case,
    geometric_names,
    segmentation_case,
    segmentation_names,
)

# ---------------------------------------------------------------------- torchvision


def torchvision_names() -> list[str]:
    """Return the name of every model that torchvision has."""
    import torchvision

    return [name for name in torchvision.models.list_models() if not name.startswith("quantized")]


_IMAGE_SIZES = {"inception_v3": 96, "maxvit_t": 224, "vit_h_14": 56}


def torchvision_case(name: str) -> Case:
    """Build a model of torchvision."""
    import torchvision

    kwargs: dict[str, Any] = {"weights": None}
    kind = inspect.getmodule(torchvision.models.get_model_builder(name)).__name__
    if ".detection" in kind:
        smaller = {} if name.startswith("ssd") else {"min_size": 96, "max_size": 128}
        model = torchvision.models.get_model(name, weights=None, weights_backbone=None, **smaller).eval()

        def images(batch: int, length: int | None, seed: int) -> Any:
            generator = torch.Generator().manual_seed(seed)
            size = length or 96
            return ([torch.rand(3, size, size + 16, generator=generator) for _ in range(batch)],), {}

        return Case(model, images)
    if ".segmentation" in kind:
        kwargs["weights_backbone"] = None
    if name.startswith("vit_"):
        kwargs["image_size"] = _IMAGE_SIZES.get(name, 64)
    if name in ("googlenet", "inception_v3"):
        kwargs["init_weights"] = False
    model = torchvision.models.get_model(name, **kwargs).eval()
    usual = _IMAGE_SIZES.get(name, 64)

    def inputs(batch: int, length: int | None, seed: int) -> Any:
        generator = torch.Generator().manual_seed(seed)
        size = length or usual
        if ".video" in kind:
            if "mvit" in name or "swin" in name:
                return (torch.randn(batch, 3, 16, 224, 224, generator=generator),), {}
            return (torch.randn(batch, 3, 8, size, size, generator=generator),), {}
        if ".optical_flow" in kind:
            size = length or 128
            first, second = (torch.rand(batch, 3, size, size, generator=generator) for _ in range(2))
            return (first, second), {"num_flow_updates": 2}
        return (torch.randn(batch, 3, size, size, generator=generator),), {}

    has_length = not name.startswith(("vit_", "maxvit")) and "mvit" not in name and "swin3d" not in name
    return Case(model, inputs, has_length)


# ---------------------------------------------------------------------- timm


def timm_names() -> list[str]:
    """Return one model, the smallest, of each family that timm has."""
    import timm

    names = []
    for module in sorted(timm.list_modules()):
        models = timm.list_models(module=module)
        if models:
            names.append(min(models, key=lambda name: (_weight(name), name)))
    return names


def _weight(name: str) -> int:
    small = ("test", "atto", "femto", "pico", "nano", "tiny", "xxs", "xs", "small", "_s")
    return next((index for index, word in enumerate(small) if word in name), len(small))


def timm_case(name: str) -> Case:
    """Build a model of timm."""
    import timm

    model = timm.create_model(name, pretrained=False, num_classes=10).eval()
    size = model.default_cfg["input_size"]
    with contextlib.suppress(Exception):
        smaller = timm.create_model(name, pretrained=False, num_classes=10, img_size=64).eval()
        with torch.no_grad():
            smaller(torch.randn(2, size[0], 64, 64))
        model, size = smaller, (size[0], 64, 64)
    is_fixed = "img_size" in inspect.signature(type(model).__init__).parameters
    if not is_fixed and size[1] > 96:
        size = (size[0], 96, 96)

    def inputs(batch: int, length: int | None, seed: int) -> Any:
        generator = torch.Generator().manual_seed(seed)
        height, width = (length, length) if length else size[1:]
        return (torch.randn(batch, size[0], height, width, generator=generator),), {}

    return Case(model, inputs, not is_fixed)


# ---------------------------------------------------------------------- transformers

_SMALL = {
    **dict.fromkeys(
        ("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "embedding_size", "emb_dim", "hidden_dim",
         "word_embed_proj_dim"), 32),
    **dict.fromkeys(
        ("intermediate_size", "ffn_dim", "d_ff", "encoder_ffn_dim", "decoder_ffn_dim", "mlp_dim", "ffn_hidden_size",
         "n_inner"), 48),
    **dict.fromkeys(
        ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers",
         "num_decoder_layers", "num_encoder_layers"), 2),
    **dict.fromkeys(
        ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads",
         "decoder_attention_heads", "num_key_value_heads"), 4),
    **dict.fromkeys(("head_dim", "d_kv", "kv_channels"), 8),
    **dict.fromkeys(("num_local_experts", "num_experts", "n_routed_experts"), 4),
    "vocab_size": 99, "moe_intermediate_size": 16, "image_size": 32, "patch_size": 8,
    "max_position_embeddings": 64, "n_positions": 64,
}  # fmt: skip


def transformers_names() -> list[str]:
    """Return every model type that transformers maps to a base model."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

    return list(MODEL_MAPPING_NAMES)


def _shrink(config: Any) -> Any:
    for key in list(config.to_dict()):
        value = getattr(config, key, None)
        if key in _SMALL and type(value) is int:
            with contextlib.suppress(Exception):
                setattr(config, key, _SMALL[key])
        elif hasattr(value, "to_dict"):
            _shrink(value)
    for key, value in vars(config).items():
        if key.endswith("token_id") and type(value) is int and value >= _SMALL["vocab_size"]:
            setattr(config, key, 1)
    return config


def transformers_case(name: str) -> Case:
    """Build a model of transformers."""
    import transformers
    from transformers import CONFIG_MAPPING, AutoModel

    transformers.logging.set_verbosity_error()
    config = _shrink(CONFIG_MAPPING[name]())
    model = AutoModel.from_config(config).eval()
    main = model.main_input_name
    parameters = inspect.signature(model.forward).parameters
    channels = getattr(config, "num_channels", None) or 3
    size = _image_size(config)

    def plain(batch: int, length: int | None, seed: int) -> Any:
        generator = torch.Generator().manual_seed(seed)
        if main == "input_ids":
            kwargs = {"input_ids": torch.randint(3, 90, (batch, length or 8), generator=generator)}
        elif main == "pixel_values":
            side = length or size
            return (), {main: torch.randn(batch, channels, side, side, generator=generator)}
        elif main == "input_values":
            kwargs = {main: torch.randn(batch, length or 4000, generator=generator)}
        elif main == "input_features":
            bins = (
                getattr(config, "num_mel_bins", None) or getattr(config, "input_feat_per_channel", None) or 80
            )
            frames = length or 2 * getattr(config, "max_source_positions", 50)
            shape = (batch, bins, frames) if "whisper" in name else (batch, frames, bins)
            kwargs = {main: torch.randn(shape, generator=generator)}
        else:
            raise NotImplementedError(f"no inputs are made up for {main}")
        if "decoder_input_ids" in parameters and getattr(config, "is_encoder_decoder", True):
            kwargs["decoder_input_ids"] = torch.randint(3, 90, (batch, 5), generator=generator)
        return (), kwargs

    def with_image(batch: int, length: int | None, seed: int) -> Any:
        args, kwargs = plain(batch, length, seed)
        side = _image_size(config)
        generator = torch.Generator().manual_seed(seed)
        return args, {**kwargs, "pixel_values": torch.randn(batch, 3, side, side, generator=generator)}

    if main == "input_ids" and "pixel_values" in parameters and not _runs(model, plain):
        return Case(model, with_image)
    return Case(model, plain)


def _image_size(config: Any) -> int:
    for part in (config, getattr(config, "vision_config", None)):
        size = getattr(part, "image_size", None)
        if size:
            return size if type(size) is int else size[0]
    return 64


def _runs(model: nn.Module, inputs: Any) -> bool:
    args, kwargs = inputs(2, None, 0)
    with torch.no_grad(), contextlib.suppress(Exception):
        model(*args, **kwargs)
        return True
    return False


# ---------------------------------------------------------------------- all

SUITES: dict[str, tuple[Callable[[], list[str]], Callable[[str], Case]]] = {
    "torchvision": (torchvision_names, torchvision_case),
    "timm": (timm_names, timm_case),
    "transformers": (transformers_names, transformers_case),
    "segmentation_models_pytorch": (segmentation_names, segmentation_case),
    "diffusers": (diffusers_names, diffusers_case),
    "torch_geometric": (geometric_names, geometric_case),
}
"""For each suite, what names its models and what builds one."""


def is_installed(suite: str) -> bool:
    """Tell whether the package of a suite is there."""
    return importlib.util.find_spec(suite) is not None
