"""Every Python block of README and docs runs in order and prints what the page shows; so do commands."""

import linecache
import re
import shlex
import subprocess
import sys

import pytest

from .blocks import ROOT, blocks, matches, pages

PAGES = [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages()]


def name_of(page, block):
    return f"{page.name}, block at line {block.line}"


@pytest.mark.parametrize("page", PAGES)
def test_python_blocks_run_and_print_what_is_shown(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    module = type(sys)("page")
    monkeypatch.setitem(sys.modules, "__main__", module)
    for block in blocks(page):
        if block.language != "python":
            continue
        name = "model.py"  # as the page shows it in errors
        linecache.cache[name] = (len(block.text), None, block.text.splitlines(keepends=True), name)
        exec(compile(block.text, name, "exec", dont_inherit=True), vars(module))
        printed = capsys.readouterr().out
        if block.shown is not None:
            assert matches(block.shown, printed), f"{name_of(page, block)} prints:\n{printed}"


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_is_shown(page, tmp_path):
    """A console block holds `$ symtrace` lines, each followed by its output; others are not run."""
    for block in blocks(page):
        if block.language != "console":
            continue
        for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
            command, _, shown = part.partition("\n")
            words = shlex.split(command)
            if words[0] == "cat" and len(words) == 2:
                (tmp_path / words[1]).write_text(shown)  # the page shows a file that later commands use
            if words[0] != "symtrace":
                continue
            done = subprocess.run(
                [sys.executable, "-m", "symtrace", *words[1:]],
                capture_output=True,
                text=True,
                cwd=tmp_path,
            )
            printed = done.stdout + done.stderr
            assert matches(shown, printed), f"{name_of(page, block)}: {command}\n{printed}"


def test_links_inside_the_documentation_lead_somewhere():
    broken = []
    for page in pages():
        prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose):
            if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert not broken
