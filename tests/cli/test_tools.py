"""``easeml tool``: a command is made from what a tool declares."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import pytest
import typer
from pydantic import Field
from typer.testing import CliRunner

from easeml.cli import tools
from easeml.errors import InvalidInput
from easeml.lifecycle.tool import Number, Tool, ToolAnswer
from easeml.modules import load_registry
from easeml.modules.pipeline import fit, save

RUNNER = CliRunner()


@dataclass(frozen=True)
class Config:
    """What the tool of this test takes."""

    least: Annotated[int, Field(ge=1, description="Rows that are enough.")] = 2
    loud: bool = False


def ask(state, facts):
    rows = len(facts["inputs"])
    verdict = "enough" if rows >= state.least else "too few"
    advice = f"{rows} rows!" if state.loud else f"{rows} rows."
    return ToolAnswer(advice, (Number("rows", "Rows", rows),), ("They count.",), verdict), state


COUNT = Tool(
    name="count", title="How many?", about="Counts rows.", needs=("inputs", "answers"),
    config=Config, open=lambda config: config, ask=ask, yes="enough",
)  # fmt: skip


def run(tool: Tool, *words: str):
    app = typer.Typer()
    app.command()(tools.command_of(tool))
    return RUNNER.invoke(app, list(words))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(0)
    width, height = random.normal(size=(2, 120))
    frame = pd.DataFrame({"width": width, "height": height})
    frame["kind"] = np.where(frame["width"] > 0, "wide", "thin")
    path = tmp_path_factory.mktemp("tools") / "table.csv"
    frame.to_csv(path, index=False)
    return path


def test_parameters_become_options_and_the_verdict_an_exit_code(table: Path) -> None:
    told = run(COUNT, str(table), "--target", "kind", "--least", "5", "--loud")
    assert (told.exit_code, told.stdout.splitlines()[0]) == (0, "Enough. 120 rows!")
    assert run(COUNT, str(table), "--target", "kind", "--least", "500").exit_code == 1
    assert "Rows that are enough." in run(COUNT, "--help").stdout
    refused = run(COUNT, "absent.csv", "--target", "kind", "--least", "0")
    assert isinstance(refused.exception, InvalidInput)  # before the file is read
    assert refused.exception.where == "parameters.least"


def test_a_tool_that_needs_a_model_reads_rows_as_the_model_does(
    table: Path, tmp_path: Path
) -> None:
    from easeml.lifecycle.tool import tool_named

    model = trained(table, tmp_path / "model", "logistic")
    out = tmp_path / "weights.csv"
    words = [str(table), "--model", str(model), "--rounds", "3", "--out", str(out)]
    told = run(tool_named("importance"), *words, "--json")
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert found["tables"][0]["rows"][0][0] == "width"
    assert out.read_text().startswith("Column,Score lost,Standard error\nwidth,")


def test_tools_of_models_on_files(table: Path, tmp_path: Path) -> None:
    from easeml.lifecycle.tool import tool_named

    models = {
        name: trained(table, tmp_path / name, name) for name in ("logistic", "baseline-classifier")
    }
    good, bad = str(models["logistic"]), str(models["baseline-classifier"])
    newer, lines = tmp_path / "newer.csv", table.read_text().splitlines()
    newer.write_text("\n".join([lines[0], *(line.rpartition(",")[0] + "," for line in lines[1:])]))
    state = tmp_path / "state"
    words = [str(table), "--model", good, "--newer", str(newer), "--state", str(state), "--json"]
    first = run(tool_named("monitor"), *words)
    assert first.stdout, first.exception
    assert batch(first.stdout) == 1
    assert batch(run(tool_named("monitor"), *words).stdout) == 2  # it goes on from the file

    tested = run(tool_named("ci"), str(table), "--model", bad, "--candidate", good, "--json")
    assert json.loads(tested.stdout)["verdict"] == "pass"
    picked = run(tool_named("pick"), str(table), "--candidate", bad, "--candidate", good, "--json")
    assert good in json.loads(picked.stdout)["advice"]
    judged = run(tool_named("evaluation"), str(table), "--model", good, "--json")
    assert judged.exit_code == 0, judged.stderr
    assert json.loads(judged.stdout)["tables"][0]["title"] == "Confusion of classes"
    read = run(tool_named("meter"), str(table), "--model", good, "--test", str(table), "--json")
    assert json.loads(read.stdout)["verdict"] == "fresh"
    compared = run(
        tool_named("difference"), str(table), "--model", bad, "--candidate", good, "--json"
    )
    assert (compared.exit_code, json.loads(compared.stdout)["verdict"]) == (0, "better")

    swapped = tmp_path / "swapped.csv"
    names = {"wide": "thin", "thin": "wide"}
    told = [line.rpartition(",") for line in lines[1:]]
    swapped.write_text("\n".join([lines[0], *(f"{one},{names[kind]}" for one, _, kind in told)]))
    watched = run(tool_named("monitor"), *words, "--late", str(swapped))
    tests = json.loads(watched.stdout)["tables"][0]["rows"]
    alarms = {kind: alarm for kind, _, _, alarm, _ in tests}
    assert alarms["concept"] == "yes"  # by rows that it saw before their truth came
    without = run(tool_named("monitor"), *words, "--late", str(newer))
    assert isinstance(without.exception, InvalidInput)

    words = [str(table), "--model", good, "--train", str(table), "--newer", str(swapped), "--json"]
    debugged = run(tool_named("debug"), *words)
    assert debugged.exit_code == 1, debugged.exception
    found = json.loads(debugged.stdout)
    assert found["verdict"] == "faults"
    assert "it changed" in {row[1] for row in found["tables"][1]["rows"]}

    unlabelled = run(tool_named("ci"), str(newer), "--model", bad, "--candidate", good)
    assert isinstance(unlabelled.exception, InvalidInput)
    assert "give rows that have both" in unlabelled.exception.remedy
    strange = tmp_path / "strange.csv"
    strange.write_text("depth,kind\n1,wide\n2,thin\n")
    other = run(tool_named("pick"), str(strange), "--candidate", bad, "--candidate", good)
    assert "width" in str(other.exception)


def trained(table: Path, folder: Path, name: str) -> Path:
    """Return the folder of a model that learned the table."""
    from easeml.cli.local_tables import read_labelled

    rows = read_labelled(table, "kind")
    registry = load_registry()
    model = registry.get(name)
    schemas = rows.schema_in.to_json(), rows.schema_out.to_json()
    chain = [one.choice() for one in registry.candidates(model, rows.schema_in)]
    pipeline = {"transforms": chain, "model": model.choice({})}
    frame = rows.inputs.assign(kind=rows.target)
    save(fit(pipeline, frame, *schemas), folder, objective="accuracy")
    return folder


def batch(said: str) -> int:
    numbers = json.loads(said)["numbers"]
    return next(one["value"] for one in numbers if one["name"] == "batch")


def test_rows_without_a_target_are_left_out(tmp_path: Path) -> None:
    from easeml.cli.local_tables import read_labelled

    lines = [f"{number % 9},{'' if number % 5 == 0 else 'xy'[number % 2]}" for number in range(40)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,kind", *lines]) + "\n")
    table = read_labelled(tmp_path / "rows.csv", "kind")
    assert table.target.notna().all()
    assert table.rows.tolist() == [number for number in range(40) if number % 5]
