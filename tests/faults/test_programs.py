"""Programs that state, effects, modes, randomness and Python's own state go through, each with what becomes of it.

A file in `programs` holds programs under `### name: outcome outcome outcome`, one outcome for each way to capture:
`equal` to the original over several calls, `raises` as the original does, `guarded`, or the code of a refusal that
shows the line. `python -m tests.faults.test_programs NAME` tells what becomes of one.
"""

import sys
from pathlib import Path

import pytest
import torch
from tests.faults.side_by_side import DOORS, outcome

PLACE = Path(__file__).parent / "programs"


def programs():
    """Yield name, expected outcomes and source."""
    for file in sorted(PLACE.glob("*.txt")):
        for part in f"\n{file.read_text(encoding='utf-8')}".split("\n### ")[1:]:
            head, _, source = part.partition("\n")
            name, _, outcomes = head.partition(": ")
            yield f"{file.stem}-{name}", outcomes.split(), source


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize(("expected", "source"), [pytest.param(e, s, id=n) for n, e, s in programs()])
def test_a_program_is_captured_or_refused(expected, source):
    assert [outcome(source, door) for door in DOORS] == expected


if __name__ == "__main__":
    for name, _, source in programs():
        if sys.argv[1] in name:
            print(name, *(outcome(source, door) for door in DOORS))
