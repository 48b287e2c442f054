"""The commands from the outside: what they print and write, exit codes, and failures that leave no trace."""

import subprocess
import sys
import textwrap

import pytest

from symtrace.cli.main import run

MODEL = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 3), nn.ReLU())

        def forward(self, x, scale=2):
            return self.body(x) * scale

    class Branch(nn.Module):
        def forward(self, x):
            if x.sum() > 0:
                return x
            return -x

    def fails(x):
        raise OSError("while tracing")
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = tmp_path / f"cli_model_{tmp_path.name.replace('-', '_')}.py"
    path.write_text(textwrap.dedent(MODEL))
    monkeypatch.chdir(tmp_path)
    yield path
    sys.modules.pop(path.stem, None)


def refused(capsys, *arguments):
    """Run a command that must fail as bad usage; return its one line on stderr."""
    assert run([str(a) for a in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("symtrace: ST4")
    assert len(err.splitlines()) == 1
    return err.strip()


def printed(capsys, *arguments):
    code = run([str(a) for a in arguments])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


def test_show_prints_a_tree_by_default(model, capsys):
    assert printed(capsys, "show", f"{model}:Net").splitlines() == [
        f"{model}:Net",
        "├── x  input",
        "├── scale  input, default 2",
        "├── body (Sequential)",
        "│   ├── body_0  Linear(x)",
        "│   └── body_1  ReLU(body_0)",
        "├── mul  operator.mul(body_1, scale)",
        "└── output  return mul",
    ]


def test_show_with_inputs_adds_shapes(model, capsys):
    lines = printed(capsys, "show", f"{model}:Net", "--input", "7x4").splitlines()
    assert "│   ├── body_0  Linear(x)  f32[7, 3]" in lines


def test_show_as_table_and_as_code(model, capsys):
    table = printed(capsys, "show", f"{model}:Net", "--format", "table")
    assert table.startswith("opcode         name    target")
    code = printed(capsys, "show", f"{model}:Net", "--format", "code")
    compile(code, "code", "exec")
    assert "def forward(self, x" in code


def test_show_takes_inputs_as_an_expression(model, capsys):
    out = printed(capsys, "show", f"{model}:Net", "--inputs", "torch.ones(2, 4), scale=3")
    assert "f32[2, 3]" in out


def test_code_writes_a_file_that_works_alone(model, capsys, tmp_path):
    out = printed(capsys, "code", f"{model}:Net", "-o", "net.py", "--input", "7x4")
    assert out.startswith("wrote net.py: ")
    model.unlink()
    script = "import net, torch; print(tuple(net.model(torch.ones(5, 4)).shape))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.strip() == "(5, 3)", done.stderr


def test_draw_writes_dot(model, capsys, tmp_path):
    assert printed(capsys, "draw", f"{model}:Net", "-o", "net.dot") == "wrote net.dot: 6 nodes\n"
    assert (tmp_path / "net.dot").read_text().startswith("digraph")


def test_explain_prints_the_page_and_lists_all(capsys):
    assert printed(capsys, "explain", "st103").startswith("# ST103: node still in use")
    listed = printed(capsys, "explain").splitlines()
    assert listed[0] == "ST001  not a callable root"
    assert len(listed) > 20


def test_a_program_that_can_not_be_captured_shows_its_own_line(model, capsys):
    assert run(["show", f"{model}:Branch"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "if x.sum() > 0:" in err
    assert "Traceback" not in err


def test_bad_targets_and_inputs_are_one_line(model, capsys):
    assert "no module `nowhere`" in refused(capsys, "show", "nowhere:x")
    assert "did you mean `Net`?" in refused(capsys, "show", f"{model}:Nett")
    assert "sizes joined by `x`" in refused(capsys, "show", f"{model}:Net", "--input", "3y4")
    assert "ST408" in refused(capsys, "show", f"{model}:Net", "--input", "7x5")
    assert "ST408" in refused(
        capsys, "show", f"{model}:Net", "--input", "7x4", "--input", "1", "--input", "1"
    )
    assert "unexpected keyword" in refused(
        capsys, "show", f"{model}:Net", "--inputs", "torch.ones(1, 4), k=1"
    )
    assert "OSError: while tracing" in refused(capsys, "show", f"{model}:fails")
    assert "while tracing" in refused(capsys, "show", f"{model}:fails", "--input", "3")
    assert "ST400" in refused(capsys, "show", f"{model}:Net", "--format", "xml")
    assert "ST400" in refused(capsys, "show")
    assert "ST400" in refused(capsys, "shoe")
    assert "ST402" in refused(capsys, "explain", "ST999")


def test_nothing_is_written_on_failure(model, capsys, tmp_path):
    old = tmp_path / "old.py"
    old.write_text("old = 1\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    refused(capsys, "code", f"{model}:Nett", "-o", old)
    refused(capsys, "code", f"{model}:Net", "-o", old, "--input", "7x5")
    refused(capsys, "code", f"{model}:Net", "-o", tmp_path / "none" / "net.py")
    refused(capsys, "code", f"{model}:Net", "-o", "net.txt")
    refused(capsys, "code", f"{model}:Net", "-o", "my-net.py")
    refused(capsys, "draw", f"{model}:Net", "-o", "net.unknown")
    assert run(["code", f"{model}:Branch", "-o", str(old)]) == 1
    assert old.read_text() == "old = 1\n"
    after = sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__")
    assert after == [name for name in before if name != "__pycache__"]


def test_the_output_of_a_command_is_plain_when_it_is_piped(model):
    command = [sys.executable, "-m", "symtrace", "show", f"{model}:Net"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr == ""
    assert not any(line.endswith(" ") for line in done.stdout.splitlines())


@pytest.mark.zoo
def test_functions_that_other_packages_keep_whole_stay_whole(capsys):
    pytest.importorskip("torchvision")
    out = printed(capsys, "show", "torchvision.models:swin_t")
    assert "shifted_window_attention(" in out
