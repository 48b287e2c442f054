"""The corpus itself: large enough, no name twice, each exception explained where users can read it."""

from __future__ import annotations

import re
from pathlib import Path

from .corpus import AGREEING, DIFFERING, PROGRAMS

DIFFERENCES = Path(__file__).parents[2] / "docs" / "differences.md"


def test_corpus_is_large():
    assert len(PROGRAMS) >= 320
    assert len(AGREEING) >= 300


def test_names_are_unique():
    names = [program.name for program in PROGRAMS]
    assert len(set(names)) == len(names)


def test_each_difference_has_a_heading_in_the_documentation():
    headings = set(re.findall(r"^#+ (.+?)\s*$", DIFFERENCES.read_text(), re.MULTILINE))
    assert {program.differs for program in DIFFERING} - headings == set()
