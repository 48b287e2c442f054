"""The public names and signatures, as users rely on them; a change here is a change for every user."""

from .public_api import public_api
from .source import ROOT

STORED = ROOT / "tests" / "architecture" / "public_api.txt"


def test_the_public_api_is_the_stored_one():
    assert public_api() == STORED.read_text(encoding="utf-8"), (
        "if the change is meant: python tests/architecture/public_api.py > tests/architecture/public_api.txt"
    )
