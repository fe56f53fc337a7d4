"""Property tests try other examples in every session of a person, the same ones in CI, and say how
to repeat one that failed.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FAILING = """
from hypothesis import given, strategies as st

@given(st.integers())
def test_fails(number):
    assert number < 1000
"""
DRAWING = """
from hypothesis import given, settings, strategies as st

drawn = []

@settings(max_examples=20)
@given(st.integers())
def test_draws(number):
    drawn.append(number)

def test_prints():
    print("DRAWN", drawn)
"""


@pytest.mark.parametrize(("ci", "same"), [("true", True), ("", False)])
def test_examples_are_drawn_anew_by_people_and_the_same_in_ci(
    tmp_path: Path, ci: str, same: bool
) -> None:
    first, second = (_drawn(tmp_path, ci), _drawn(tmp_path, ci))
    assert (first == second) == same


def test_a_failing_example_is_printed_so_that_it_can_be_repeated(tmp_path: Path):
    run = _session(tmp_path, FAILING, ci="")
    assert run.returncode == 1, run.stdout + run.stderr
    assert "number=" in run.stdout
    assert "@reproduce_failure(" in run.stdout


def _drawn(folder: Path, ci: str) -> str:
    run = _session(folder, DRAWING, ci)
    assert run.returncode == 0, run.stdout + run.stderr
    lines = [line for line in run.stdout.splitlines() if "DRAWN" in line]
    return lines[0]


def _session(folder: Path, tests: str, ci: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_given.py").write_text(tests)
    conftest = Path(__file__).resolve().parents[1] / "conftest.py"
    program = f"""
import sys
sys.path.insert(0, {str(conftest.parent)!r})
import conftest, pytest
sys.exit(pytest.main(["-q", "-s", "-p", "no:cacheprovider", {str(folder)!r}]))
"""
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "CI": ci},
    )
