"""The `symtrace` command: finds the asked-for command, and turns every failure into text and an exit code."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import NoReturn

import click

from .. import errors

__all__ = ["cli", "main"]

# Name of the command -> one line of help. The command is the object `command` in the module of the same
# name, loaded when it is asked for, so that `symtrace --help` does not wait for torch.
_COMMANDS = {
    "code": "Write a captured program as a Python file that can be imported on its own.",
    "diff": "Print where the graphs of two programs differ.",
    "draw": "Draw the graph of a program into a file.",
    "explain": "Explain a diagnostic code, with worked examples.",
    "passes": "List the passes, or run some on a program and say what each did.",
    "show": "Print the graph of a program as a tree, a table or code.",
}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = import_module(f".{cmd_name}", __package__).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    from importlib import metadata

    try:
        click.echo(metadata.version("symtrace"))
    except metadata.PackageNotFoundError:
        click.echo("unknown: symtrace is imported from its source, not installed")
    ctx.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version.",
)
def cli() -> None:
    """Capture a PyTorch program as a graph you can read, check, edit and run again as Python.

    TARGET is `module.path:name` or `path/to/file.py:name`. It names a module object, a class of
    modules, a function that returns a module (such as torchvision.models:resnet18) or a function that is
    itself the program.
    """


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _report(error: errors.SymtraceError) -> int:
    """Print `error` to stderr; return the exit code."""
    if isinstance(error, errors.UsageError):
        click.echo(f"symtrace: {error.code}: {_one_line(error.diagnostic.message)}", err=True)
        return 2
    from rich.console import Console

    from ..diagnostics import render_rich

    console = Console(stderr=True, soft_wrap=True, highlight=False)
    console.print(render_rich(error.diagnostic, name=type(error).__name__))
    return 1


def run(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit code: 0 done, 1 the program can't be captured, 2 bad usage."""
    try:
        cli.main(args=arguments, prog_name="symtrace", standalone_mode=False)
    except errors.SymtraceError as error:
        return _report(error)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.ClickException as error:
        return _report(errors.UsageError("ST400", reason=_one_line(error.format_message()).rstrip(".")))
    except click.Abort:
        click.echo("symtrace: interrupted", err=True)
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output is gone; nobody waits for the rest
        return 141
    return 0


def main() -> NoReturn:
    """Run the command line of this process."""
    sys.exit(run())
