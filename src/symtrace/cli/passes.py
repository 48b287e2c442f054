"""`symtrace passes [TARGET]`."""

from __future__ import annotations

import click

from .capturing import capture_target
from .options import TargetOptions, target_options
from .output import console

__all__ = ["command"]


@click.command("passes")
@click.argument("target", required=False)
@target_options
@click.option("--run", "text", help="Passes to run on TARGET, such as dce,cse,fuse-conv-bn{eval-only=true}.")
@click.option("--diff", "with_diff", is_flag=True, help="Print what each pass changed.")
@click.option(
    "--training", is_flag=True, help="Run them on the program in training mode; else it is evaluation."
)
def command(
    target: str | None,
    options: TargetOptions,
    text: str | None,
    with_diff: bool,
    training: bool,
) -> None:
    """List all passes, or run some on TARGET and say what each did.

    Without --run, TARGET is optimised with the passes that are safe for any program. With inputs, the program is
    run on them after each pass that changed something, and has to do what it did before.
    """
    if target is None:
        if text is not None:
            raise click.UsageError("a TARGET is needed to run passes on")
        _list_passes()
        return
    from ..passes import Pipeline
    from ..passes.standard import EVALUATION, TRAINING

    chosen = text if text is not None else TRAINING if training else EVALUATION
    reading = Pipeline(chosen)  # a slip in the text shows before the model is built
    gm, inputs = capture_target(target, options)
    gm.train(training)
    verify = tuple(inputs.args) if inputs and not inputs.kwargs else None
    pipeline = Pipeline(reading.passes, keep_diffs=with_diff, verify=verify)
    pipeline(gm)
    out = console()
    out.print(str(pipeline.history), markup=False)
    for step in pipeline.history:
        for remark in step.remarks:
            out.print(f"{step.name}: {remark.node} is left alone: {remark.reason}", markup=False)
    if with_diff and pipeline.history.diff:
        from .diff import print_marked

        print_marked(out, pipeline.history.diff)


def _list_passes() -> None:
    from dataclasses import MISSING, fields

    from ..passes.registry import available_passes, unusable_passes

    for name, cls in available_passes().items():
        click.echo(name)
        for line in (cls.__doc__ or "").strip().splitlines()[:1]:
            click.echo(f"    {line}")
        for option in fields(cls):
            if option.default is MISSING:
                click.echo(f"    {option.name.replace('_', '-')}")
                continue
            default = (
                str(option.default).lower() if isinstance(option.default, bool) else repr(option.default)
            )
            click.echo(f"    {option.name.replace('_', '-')}={default}")
    for name, reason in unusable_passes().items():
        click.echo(f"{name}: not usable: {reason}", err=True)
