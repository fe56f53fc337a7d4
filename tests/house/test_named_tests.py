"""What pages promise names a test that there is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("operations/faults.md", "threat-model.md", "guarantees.md")


@pytest.mark.parametrize("page", PAGES)
def test_pages_name_tests_that_there_are(page: str) -> None:
    files = list((ROOT / "tests").rglob("test_*.py"))
    sources = {path.name for path in files}
    functions = set(
        re.findall(
            r"^ *(?:async )?def (test_\w+)",
            "\n".join(path.read_text("utf-8") for path in files),
            re.MULTILINE,
        )
    )
    text = (ROOT / "docs" / page).read_text("utf-8")
    named = re.findall(r"`((?:tests/)?[\w/]*(?:test_\w+(?:\.py)?|tests/\w+))`", text)
    assert len(named) > 20
    for name in named:
        is_there = (ROOT / name).exists() or Path(name).name in sources or name in functions
        assert is_there, name
