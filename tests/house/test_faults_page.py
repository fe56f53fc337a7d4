"""Each fault of the page names a test that there is."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "operations" / "faults.md"


def test_the_faults_name_tests_that_there_are() -> None:
    sources = {path.name: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    functions = set(re.findall(r"^def (test_\w+)", "\n".join(sources.values()), re.MULTILINE))
    named = re.findall(r"`((?:tests/)?[\w/]*(?:test_\w+(?:\.py)?|tests/\w+))`", PAGE.read_text())
    assert len(named) > 20
    for name in named:
        is_there = (ROOT / name).exists() or Path(name).name in sources or name in functions
        assert is_there, name
