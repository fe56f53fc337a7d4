"""Property tests try other examples in every session, and say how to repeat one that failed."""

import subprocess
import sys
from pathlib import Path

from hypothesis import settings

FAILING = """
from hypothesis import given, strategies as st

@given(st.integers())
def test_fails(number):
    assert number < 1000
"""


def test_examples_are_drawn_anew_and_failing_ones_are_kept():
    assert not settings.default.derandomize
    assert settings.default.database is not None


def test_a_failing_example_is_printed_so_that_it_can_be_repeated(tmp_path: Path):
    (tmp_path / "test_failing.py").write_text(FAILING)
    conftest = Path(__file__).resolve().parents[1] / "conftest.py"
    program = f"""
import sys
sys.path.insert(0, {str(conftest.parent)!r})
import conftest, pytest
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", {str(tmp_path)!r}]))
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert run.returncode == 1, run.stdout + run.stderr
    assert "number=" in run.stdout
    assert "@reproduce_failure(" in run.stdout
