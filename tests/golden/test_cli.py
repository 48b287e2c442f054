"""What the commands print and write, as a whole."""

import pytest

from .cli_cases import CASES, FOLDER, output_of


@pytest.mark.parametrize("name", CASES)
def test_output_is_the_stored_one(name):
    stored = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert output_of(name) == stored, (
        "if the change is meant: PYTHONPATH=src python -m tests.golden.cli_cases"
    )
