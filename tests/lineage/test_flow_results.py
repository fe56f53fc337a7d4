"""Flows that leave: exports that run elsewhere and give the same; results by name, context and tag."""

import inspect
import json
import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import easeml
from easeml.cli.main import app
from easeml.errors import InvalidInput
from easeml.lineage import FlowRuns, FolderCache, StagedRelation, load_flow, nodes_of, value_digest
from easeml.lineage.operators import operator_named
from easeml.lineage.standalone import _METHODS, write_script, write_standalone
from lineage.test_lineage import STEPS
from relation.worlds import Doubtful, doubtful

FLOW = """
operators = ["../ops.py"]

[steps.wines]
do = "read"
file = "../data/wines.csv"
target = "quality"
about = "what we \\"bought\\"\\nin 2024"

[steps.doubt]
do = "with_candidates"
of = "wines"
row_id = 3
column = "alcohol"
weights = [[12.5, 0.5], [14.5, 0.5]]

[steps."strong ones"]
do = "filter"
of = "doubt"
condition = "alcohol > 12"
expect = "rows > 5"
context = "study"
tags = ["reviewed", "small"]

[steps.class]
do = "with_column"
of = "strong ones"
name = "level"
sql = { file = "wines.csv" }
context = "study"

[steps.print]
do = "dear"
of = ["wines"]
most = inf
name = "x"
"""
OPERATORS = """
import easeml

@easeml.lineage.operator
def dear(relation, most, name):
    return relation.filter(f"alcohol < {min(most, 15)}")
"""


@pytest.fixture
def flow(tmp_path: Path) -> Path:
    """A flow whose files lie here and there; two of them have one name."""
    here = tmp_path / "here"
    for folder in ("flows", "data"):
        (here / folder).mkdir(parents=True)
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"alcohol": random.uniform(8, 16, 60).round(2)})
    frame["quality"] = np.where(frame["alcohol"] > 11, "good", "bad")
    frame.to_csv(here / "data" / "wines.csv", index=False)
    (here / "ops.py").write_text(OPERATORS)
    (here / "flows" / "wines.csv").write_text("CASE WHEN alcohol > 14 THEN 'strong' END\n")
    path = here / "flows" / "wines.toml"
    path.write_text(FLOW)
    return path


def call(*words: str | Path, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["flow", *map(str, words)])
    assert result.exit_code == code, result.output
    return result.stdout


def listed(*words: str | Path) -> list[dict]:
    return json.loads(call("list", *words, "--json"))["outputs"]


def digests(flow: Path, folder: Path) -> dict[str, str]:
    """Return what the steps of a file give, computed anew in a folder."""
    runs = FlowRuns(load_flow(flow), flow.stem, folder)
    return {name: value_digest(runs.value(name)) for name in runs.nodes}


def test_an_export_runs_elsewhere_and_gives_the_same(flow: Path, tmp_path: Path):
    call("run", flow)
    told = json.loads(call("export", flow, "--out", tmp_path / "wines.zip", "--json"))
    assert told["file"] == "wines.toml"
    assert set(told["digests"]) == set(load_flow(flow).steps)
    call("export", flow, "--out", tmp_path / "again.zip")
    assert (tmp_path / "wines.zip").read_bytes() == (tmp_path / "again.zip").read_bytes()
    shutil.rmtree(tmp_path / "here")

    there = tmp_path / "there"
    with zipfile.ZipFile(tmp_path / "wines.zip") as packed:
        packed.extractall(there)
    program = [sys.executable, "-m", "easeml.cli", "flow", "run", "wines.toml", "--json"]
    done = subprocess.run(program, cwd=there, capture_output=True, text=True, check=True)
    steps = json.loads(done.stdout)["steps"]
    assert all(step["computed"] and step["met"] for step in steps)
    assert digests(there / "wines.toml", tmp_path / "anew") == told["digests"]


def test_a_run_elsewhere_that_gives_other_rows_is_told(flow: Path, tmp_path: Path):
    call("run", flow)
    out = tmp_path / "out"
    call("export", flow, "--out", out)
    table = out / "files" / "wines.csv"
    table.write_text(table.read_text().replace("good", "fine"))
    steps = json.loads(call("run", out / "wines.toml", "--json", code=1))["steps"]
    assert not any(step["met"] for step in steps)


def test_what_was_never_run_is_exported_without_digests(flow: Path, tmp_path: Path):
    call("export", flow, "--out", tmp_path / "new" / "wines.zip")
    with zipfile.ZipFile(tmp_path / "new" / "wines.zip") as packed:
        assert "content =" not in packed.read("wines.toml").decode()


def test_a_script_does_the_same_by_the_public_api(flow: Path, tmp_path: Path):
    out = tmp_path / "script"
    call("export", flow, "--out", out, "--format", "python")
    given_here = digests(flow, tmp_path / "results")
    shutil.rmtree(tmp_path / "here")
    program = [sys.executable, str(out / "run_wines.py")]
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    done = subprocess.run(
        program, cwd=folder, capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    for end in ("class", "print"):
        assert f"{end}: {given_here[end]}" in done.stdout.splitlines()


@settings(max_examples=10)
@given(found=doubtful(), names=st.lists(st.sampled_from(sorted(set(STEPS) - {"told"})), max_size=4))
def test_whatever_the_graph_both_exports_give_the_same(
    found: Doubtful, names: list[str], tmp_path_factory: pytest.TempPathFactory
):
    relation = StagedRelation(found.relation().content)
    for name in names:
        relation = STEPS[name](relation)
    folder = tmp_path_factory.mktemp("flow")
    relation.save_flow(folder / "graph.toml")
    expected = value_digest(relation.eval())
    written = write_standalone(folder / "graph.toml", folder / "flow", {})
    assert list(digests(written, folder / "results").values())[-1] == expected
    (step,) = runpy.run_path(str(write_script(folder / "graph.toml", folder / "script")))[
        "ENDS"
    ].values()
    assert value_digest(step.eval()) == expected


def test_a_method_in_a_script_is_the_operator_of_its_name():
    for name in _METHODS:
        method = inspect.signature(getattr(StagedRelation, name)).parameters
        operator = inspect.signature(operator_named(name).function).parameters
        assert list(method)[1:] == list(operator)[1:]
        for one in list(operator)[1:]:
            assert method[one].default == operator[one].default


def test_a_folder_that_holds_something_and_files_that_lack_are_refused(flow: Path, tmp_path: Path):
    with pytest.raises(InvalidInput, match="is there already"):
        write_standalone(flow, flow.parent, {})
    with pytest.raises(InvalidInput, match="is there already"):
        write_script(flow, flow)
    (flow.parent.parent / "data" / "wines.csv").unlink()
    with pytest.raises(InvalidInput, match="cannot be copied"):
        write_standalone(flow, tmp_path / "out", {})


def test_dates_and_numbers_without_end_are_written(tmp_path: Path):
    (tmp_path / "a.csv").write_text("n\n1\n2\n")
    path = tmp_path / "a.toml"
    path.write_text(
        '[steps.a]\ndo = "read"\nfile = "a.csv"\n[steps.b]\ndo = "with_candidates"\nof = "a"\n'
        'row_id = 0\ncolumn = "n"\nweights = [[1, 0.5], [2, 0.5]]\n'
        "[steps.b.source]\ntool = 2024-05-31\nseed = -inf\n"
    )
    written = write_standalone(path, tmp_path / "out", {})
    before, after = nodes_of(load_flow(path)), nodes_of(load_flow(written))
    assert after["b"].key == before["b"].key
    script = write_script(path, tmp_path / "script")
    assert runpy.run_path(str(script))["b"].node.parameters == dict(before["b"].parameters)


def test_results_are_found_by_name_context_and_tag(flow: Path):
    call("run", flow)
    folder = flow.parent
    assert {line["name"] for line in listed(folder)} == set(load_flow(flow).steps)
    (strong,) = listed(folder, "--tag", "small")
    assert (strong["name"], strong["context"], strong["from"]) == ("strong ones", "study", "wines")
    assert strong["digest"] == nodes_of(load_flow(flow))["strong ones"].key
    assert {line["name"] for line in listed(folder, "--context", "study")} == {
        "strong ones",
        "class",
    }
    assert listed(folder, "--context", "study", "--tag", "other") == []
    assert "There are no such results." in call("list", folder, "--name", "absent")


def test_an_output_that_is_made_anew_keeps_the_one_before(flow: Path):
    call("run", flow)
    before = listed(flow.parent, "--name", "class")
    flow.with_name("wines.csv").write_text("alcohol || ' %'")
    flow.write_text(flow.read_text().replace('context = "study"\ntags', 'context = "new"\ntags'))
    call("run", flow)
    after = listed(flow.parent, "--name", "class")
    assert len(after) == 2
    assert before[0] in after
    (renamed,) = listed(flow.parent, "--name", "strong ones")
    assert renamed["context"] == "new"  # of the same result


def test_names_go_with_the_results_that_make_room(flow: Path):
    call("run", flow)
    results = flow.parent / ".easeml-flow" / "results"
    key = nodes_of(load_flow(flow))["class"].key
    FolderCache(results, most_bytes=0).put(
        key, easeml.Relation.from_frame(pd.DataFrame({"n": [1]}))
    )
    assert [line["digest"] for line in listed(flow.parent)] == [key]
    for path in results.glob("*.named"):
        path.write_text("{broken")
    assert listed(flow.parent) == []
