"""Every benchmark works: its short form, on little, run to its end."""

import runpy
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SHARED = BENCHMARKS.parents[1] / "shared" / "data"
SCRIPTS = {
    path.stem: path.read_text("utf-8")
    for path in sorted(BENCHMARKS.glob("*.py"))
    if "    main()\n" in path.read_text("utf-8") and "read_options(" in path.read_text("utf-8")
}
PEERS_ONLY = {"search_decision_peers"}
"""Benchmarks that measure nothing without libraries that they install from the network."""
PARTS = {"picking_report", "column_types_tools"}
"""Parts of other benchmarks."""
TO_COME = {"column_types", "feasibility", "monitoring"}
"""Benchmarks whose short form is missing, or takes too long, yet."""


def own_marks(name: str) -> list[pytest.MarkDecorator]:
    """Return the marks of tests that start a service, as the script does."""
    text = SCRIPTS[name]
    marks = [pytest.mark.faults] if "EasemlProcess(" in text else []
    if "sync_playwright" in text:
        marks.append(pytest.mark.browser)
    return marks


CASES = [
    pytest.param(name, marks=own_marks(name))
    for name in SCRIPTS
    if name not in PEERS_ONLY | TO_COME
]


@pytest.mark.parametrize("name", CASES)
def test_the_short_form_of_a_benchmark_runs_to_its_end(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    if "data=True" in SCRIPTS[name] and not SHARED.is_dir():
        pytest.skip("the public data sets are not beside this folder")
    script = str(BENCHMARKS / f"{name}.py")
    monkeypatch.setattr(sys, "argv", [script, "--short", "--out", str(tmp_path)])
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    runpy.run_path(script, run_name="__main__")
    assert len(capsys.readouterr().out.splitlines()) >= 2


def test_every_script_with_a_main_has_a_short_form():
    mains = {path.stem for path in BENCHMARKS.glob("*.py") if "def main(" in path.read_text()}
    assert mains - PARTS - TO_COME <= set(SCRIPTS)
