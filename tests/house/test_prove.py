"""Long claims are run once for the same sources, and say on what they were run."""

import json
import subprocess
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


def test_it_is_said_what_was_proved_when_and_what_is_stale(prove: Any, tmp_path: Path):
    held = prove.Claim("held", (sys.executable, "-c", ""))
    wrong = prove.Claim("wrong", (sys.executable, "-c", "raise SystemExit(3)"))
    assert prove.standing_of(held, tmp_path, "one") == "never run"
    prove.prove_all([held, wrong], tmp_path, "one", tmp_path)
    began = prove.proof_of(held, tmp_path)["began"]
    said = prove.standing_of(held, tmp_path, "one")
    assert said.startswith(f"passed {began} at ")
    assert said.endswith("these sources")
    assert prove.standing_of(held, tmp_path, "two").endswith("sources have changed since")
    assert prove.standing_of(wrong, tmp_path, "one").startswith("FAILED ")


def test_results_do_not_change_the_commit_that_a_proof_names(prove: Any, tmp_path: Path):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for command in (["init", "-q"], [*identity, "commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    commit = prove.commit_of(tmp_path)
    assert len(commit) == 12
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    (tmp_path / "benchmarks" / "results" / "table.txt").write_text("1")
    assert prove.commit_of(tmp_path) == commit
    (tmp_path / "new.py").write_text("")
    assert prove.commit_of(tmp_path) == f"{commit}, changed"


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
