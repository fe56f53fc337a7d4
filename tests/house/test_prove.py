"""Long claims are run once for the same sources, and say on what they were run."""

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def prove() -> Any:
    spec = spec_from_file_location("prove", ROOT / "scripts" / "prove.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["prove"] = module
    spec.loader.exec_module(module)
    return module


def test_what_was_proved_is_not_run_again_until_sources_change(prove: Any, tmp_path: Path):
    counting = "from pathlib import Path; p = Path('runs'); p.open('a').write('x'); print('seen')"
    claim = prove.Claim("counted", (sys.executable, "-c", counting))
    results = tmp_path / "results"
    for sources in ("one", "one", "two"):
        assert prove.prove_all([claim], results, sources, tmp_path)[0] == []
    assert (tmp_path / "runs").read_text() == "xx"
    proof = json.loads((results / "counted" / "proof.json").read_text())
    assert proof["passed"]
    assert proof["sources"] == "two"
    assert proof["versions"]["numpy"]
    assert (results / "counted" / "proof.txt").read_text() == "seen\n"


def test_what_failed_is_run_again(prove: Any, tmp_path: Path):
    claim = prove.Claim("wrong", (sys.executable, "-c", "raise SystemExit(3)"))
    for _ in range(2):
        assert prove.prove_all([claim], tmp_path, "one", tmp_path) == (["wrong"], [])


def test_any_source_counts(prove: Any, tmp_path: Path):
    (tmp_path / "src").mkdir()
    before = prove.digest_of(tmp_path)
    (tmp_path / "src" / "new.py").write_text("")
    assert prove.digest_of(tmp_path) != before


def test_every_benchmark_is_a_claim(prove: Any):
    names = {claim.name for claim in prove.claims()}
    assert {"kill_processes", "search_policies", "cleaning_curves", "fuzz_00", "faults"} <= names
    assert "common" not in names
