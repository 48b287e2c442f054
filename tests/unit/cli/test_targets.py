"""TARGET on the command line: what it may name, which program that is, and how refusals read."""

import inspect
import sys
import textwrap

import pytest
import torch
from torch import nn

from symtrace.cli.targets import load_program
from symtrace.errors import UsageError

MODEL = """
    import torch
    from torch import nn

    class Net(nn.Module):
        class Inner(nn.Module):
            def forward(self, x):
                return -x

        def __init__(self, width=3):
            super().__init__()
            self.lin = nn.Linear(width, 2)

        def forward(self, x):
            return self.lin(x)

    class Needy(nn.Module):
        def __init__(self, width):
            super().__init__()

    class NoModule:
        pass

    ready = Net(5)
    number = 3

    def factory(width=4):
        return Net(width)

    def annotated(width) -> Net:
        return Net(width)

    def program(x):
        return x * 2

    def all_defaults(x=None, scale=2):
        return x * scale

    def makes_tensor():
        return torch.zeros(2)

    def broken():
        raise OSError("no disk\\nsecond line")
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A file `model_NNN.py` with programs of all kinds; its path."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = tmp_path / f"model_{tmp_path.name.replace('-', '_')}.py"
    path.write_text(textwrap.dedent(MODEL))
    before = set(sys.modules)
    yield path
    for name in set(sys.modules) - before:
        if name.startswith(("model_", "symtrace_target_", "helper_")):
            del sys.modules[name]


def refusal(target):
    with pytest.raises(UsageError) as caught:
        load_program(target)
    assert caught.value.code == "ST401"
    message = caught.value.diagnostic.message
    assert len(message.splitlines()) == 1
    return message


def test_a_class_is_called_without_arguments(model):
    assert load_program(f"{model}:Net").lin.in_features == 3


def test_a_module_object_is_the_program(model):
    assert load_program(f"{model}:ready").lin.in_features == 5


def test_a_function_that_returns_a_module_is_a_factory(model):
    assert load_program(f"{model}:factory").lin.in_features == 4


def test_a_model_function_of_torchvision_is_a_factory():
    pytest.importorskip("torchvision")
    assert isinstance(load_program("torchvision.models:resnet18"), nn.Module)


@pytest.mark.parametrize("name", ["program", "all_defaults", "makes_tensor"])
def test_any_other_function_is_itself_the_program(model, name):
    program = load_program(f"{model}:{name}")
    assert inspect.isfunction(program)
    assert program.__name__ == name


def test_a_builtin_function_is_a_program():
    assert load_program("torch:relu") is torch.relu


def test_dots_reach_into_classes(model):
    assert load_program(f"{model}:Net.Inner")(torch.ones(1)).item() == -1


def test_a_module_is_found_from_the_current_folder(model, monkeypatch):
    monkeypatch.chdir(model.parent)
    assert load_program(f"{model.stem}:program")(2) == 4


def test_a_file_may_import_its_neighbours(model):
    helper = model.parent / f"helper_{model.stem}.py"
    helper.write_text("import torch\nlayer = torch.nn.Identity()\n")
    model.write_text(f"from {helper.stem} import layer\n")
    assert isinstance(load_program(f"{model}:layer"), nn.Identity)


def test_a_file_named_like_a_loaded_module_does_not_replace_it(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    import json

    path = tmp_path / "json.py"
    path.write_text("def program(x):\n    return x\n")
    assert load_program(f"{path}:program")(1) == 1
    assert sys.modules["json"] is json
    del sys.modules["symtrace_target_json"]


@pytest.mark.parametrize("target", ["torch.nn", ":ReLU", "torch.nn:", "", "torch.nn:Re-LU", "torch.nn:a..b"])
def test_a_target_of_another_form_is_refused(target):
    assert "form `module.path:name` or `file.py:name`" in refusal(target)


def test_refusals_say_what_is_missing(model, tmp_path):
    assert "no module `nowhere_at_all`" in refusal("nowhere_at_all.sub:x")
    assert "no file" in refusal(f"{tmp_path}/none.py:Net")
    assert "has no `Nett`; did you mean `Net`?" in refusal(f"{model}:Nett")
    assert "neither a module nor a file" in refusal("my-model:Net")


def test_refusals_say_what_is_no_program(model):
    assert "object of class `int`" in refusal(f"{model}:number")
    assert "not of modules" in refusal(f"{model}:NoModule")


def test_refusals_say_why_a_module_can_not_be_made(model):
    assert "`Needy()` failed: TypeError" in refusal(f"{model}:Needy")
    assert "needs arguments: width" in refusal(f"{model}:annotated")
    assert refusal(f"{model}:broken").endswith("OSError: no disk")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("def f(:\n", "SyntaxError"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        ("import nowhere_at_all\n", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
    ],
)
def test_a_file_that_can_not_be_imported_is_refused_and_forgotten(model, text, reason):
    model.write_text(text)
    assert reason in refusal(f"{model}:Net")
    assert model.stem not in sys.modules


def test_config_is_what_a_class_or_factory_is_called_with(model):
    assert load_program(f"{model}:Net", {"width": 7}).lin.in_features == 7
    assert load_program(f"{model}:Needy", {"width": 7}) is not None
    assert load_program(f"{model}:annotated", {"width": 8}).lin.in_features == 8


def test_a_class_with_a_configuration_class_gets_an_object_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = tmp_path / "model_configured.py"
    path.write_text(
        textwrap.dedent("""
            from torch import nn

            class Config:
                def __init__(self, width=2):
                    self.width = width

            class Model(nn.Module):
                config_class = Config

                def __init__(self, config):
                    super().__init__()
                    self.lin = nn.Linear(config.width, 1)
        """)
    )
    assert load_program(f"{path}:Model").lin.in_features == 2
    assert load_program(f"{path}:Model", {"width": 5}).lin.in_features == 5


@pytest.mark.parametrize(
    ("name", "config", "reason"),
    [
        ("ready", {"width": 1}, "it is a module already; --config is for classes and factories"),
        ("Net", {"size": 1}, "unexpected keyword argument 'size'"),
        ("factory", {"size": 1}, "unexpected keyword argument 'size'"),
        ("program", {"scale": 2}, "needs arguments: x"),
        ("all_defaults", {"x": 2}, "an object of class `int`, not a module"),
    ],
)
def test_a_config_that_does_not_fit_is_refused(model, name, config, reason):
    with pytest.raises(UsageError, match="ST401") as caught:
        load_program(f"{model}:{name}", config)
    assert reason in caught.value.diagnostic.message
