"""An application's data as a flow: pulled, continued on another machine, pushed, searched again."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from easeml.cli.main import app
from easeml.client import Client
from easeml.lineage import StagedRelation, load_flow
from easeml.relation import Relation
from service_process import EasemlProcess

OWN = """
[steps.certain]
do = "filter"
of = "current"
condition = "size > 0.2"
context = "the second study"
tags = ["reviewed", "small"]
"""
PEOPLES = ("certain", "rounded")  # steps that people added


def table(path: Path, rows: int, seed: int) -> Path:
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": random.uniform(0, 1, rows).round(3)})
    frame["colour"] = random.choice(["red", "blue"], rows)
    frame["kind"] = np.where(frame["size"] > 0.5, "large", "small")
    frame.to_csv(path, index=False)
    return path


def command(*words: str | Path) -> dict:
    """Run a command in this process; return the JSON that it prints."""
    result = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def exported(easeml: EasemlProcess, version_id: str, folder: Path) -> pd.DataFrame:
    path = folder / f"{version_id}.parquet"
    with Client(easeml.url, easeml.key) as client:
        path.write_bytes(client.export(version_id, "parquet"))
    return pd.read_parquet(path).set_index("easeml.row")


def test_versions_are_pulled_changed_pushed_and_searched(
    easeml: EasemlProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EASEML_URL", easeml.url)
    monkeypatch.setenv("EASEML_API_KEY", easeml.key)
    words = ["--target", "kind", "--models", "decision-tree-classifier", "--max-tasks", "1"]
    first = table(tmp_path / "first.csv", 120, seed=0)
    application = command("app", "create", first, *words, "--yes")["id"]
    with Client(easeml.url, easeml.key) as client:
        client.wait_version_ready(client.application(application).version_id)
        fed = client.feed(application, table(tmp_path / "more.csv", 40, seed=1))
        client.wait_version_ready(fed.id)
        train = [row.row for row in client.train_rows(application)]
        refined = client.refine(application, off=train[:5])
        client.wait_version_ready(refined.id)

    flow = tmp_path / "live.toml"
    pull = ("flow", "pull", application, "--out", flow)
    pulled = command(*pull)
    assert pulled["fetched"] == pulled["versions"]
    assert len(pulled["versions"]) == 3
    assert command(*pull)["fetched"] == []  # only what lacks travels

    here = StagedRelation.from_flow(flow)["current"].eval().to_frame()
    there = exported(easeml, refined.id, tmp_path)
    pd.testing.assert_frame_equal(here, there[list(here.columns)], check_dtype=False)
    assert not set(train[:5]) & set(here.index)

    flow.write_text(flow.read_text() + OWN)
    pushed = command("flow", "push", flow)
    assert pushed["parents"] == [refined.id]
    told = pushed["operation"]
    assert (told["title"], told["context"]) == ("certain", "the second study")
    assert told["tags"] == ["reviewed", "small"]
    assert [step["name"] for step in told["steps"]][-2:] == ["current", "certain"]
    small = here.index[(here["size"] <= 0.2)]
    roles = there["easeml.role"]
    after = exported(easeml, pushed["id"], tmp_path)
    assert set(there.index) - set(after.index) == set(small[roles[small] == "train"])
    with Client(easeml.url, easeml.key) as client:
        assert client.application(application).version_id == pushed["id"]
        client.wait(application, until="first-model", timeout=60)

    # Only what differs was sent, and what it makes is what is here.
    kept = StagedRelation.from_flow(flow)["certain"].eval().to_frame()
    pd.testing.assert_frame_equal(
        kept[roles[kept.index] == "train"],
        after.loc[after["easeml.role"] == "train", list(kept.columns)],
        check_dtype=False,
    )
    again = command("flow", "push", flow)
    assert again["id"] == pushed["id"]  # nothing was sent
    assert all(not step["computed"] for step in command("flow", "run", flow)["steps"])
    assert command(*pull)["fetched"] == [pushed["id"]]
    assert OWN in flow.read_text()

    sql = tmp_path / "size.sql"
    sql.write_text("round(size, 2)")
    rounded = '[steps.rounded]\ndo = "with_column"\nof = "certain"\nname = "size"\n'
    flow.write_text(flow.read_text() + rounded + 'sql = { file = "size.sql" }\ntags = ["sql"]\n')
    command("flow", "push", flow)
    # An edit replaces what was pushed: the steps begin with the rows that were pulled.
    sql.write_text("CASE WHEN size > 0.4 THEN 0.75 ELSE size END")
    assert computed(flow) == ["rounded"]
    edited = command("flow", "push", flow)
    rows = exported(easeml, edited["id"], tmp_path)
    sizes = rows["size"][rows["easeml.role"] == "train"]
    assert sizes.gt(0.4).any()
    assert set(sizes[sizes > 0.4]) == {0.75}
    with Client(easeml.url, easeml.key) as client:
        assert client.application(application).version_id == edited["id"]

    new_rows_get_ids_that_last(easeml, tmp_path, flow)
    with Client(easeml.url, easeml.key) as client:
        client.wait_version_ready(client.refine(application, off=train[5:6]).id)
    sql.write_text("round(size, 3)")
    refused = CliRunner().invoke(app, ["flow", "push", str(flow)])  # somebody else's would go
    assert refused.exit_code
    assert "The data has version 10 by now" in refused.output

    listed = command("flow", "list", "--application", application)["outputs"]
    assert [line["name"] for line in listed] == ["grown", "grown", "rounded", "rounded", "certain"]
    (small,) = command("flow", "list", "--application", application, "--tag", "small")["outputs"]
    assert (small["context"], small["from"]) == ("the second study", pushed["id"])
    assert small["digest"] == told["digest"]
    newest = tmp_path / "rounded.parquet"
    words = ["flow", "pull", application, "--name", "rounded", "--out", str(newest)]
    assert CliRunner().invoke(app, words).exit_code == 0
    pd.testing.assert_frame_equal(pd.read_parquet(newest).set_index("easeml.row"), rows)
    words[words.index("rounded")] = "absent"
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code
    assert "Names are: certain, rounded, grown" in refused.output


def test_a_flow_of_another_service_says_what_to_do(
    easeml: EasemlProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EASEML_URL", easeml.url)
    monkeypatch.setenv("EASEML_API_KEY", easeml.key)
    table(tmp_path / "rows.csv", 20, seed=0)
    flow = tmp_path / "live.toml"
    flow.write_text(
        'application = "app_of_elsewhere"\nversion = "ver_1"\n'
        '[steps.current]\ndo = "read"\nfile = "rows.csv"\n'
    )
    refused = CliRunner().invoke(app, ["flow", "push", str(flow)])
    assert refused.exit_code
    said = " ".join(refused.output.split())
    assert "This service has no application app_of_elsewhere of yours" in said
    assert "Set EASEML_URL to the service that the steps were pulled from" in said


def new_rows_get_ids_that_last(easeml: EasemlProcess, folder: Path, flow: Path) -> None:
    """Push rows that no version has, twice, and pull them."""
    here = StagedRelation.from_flow(flow)["certain"].eval()
    count = 3
    assert here.roles is not None
    some = here.to_frame().loc[np.array(here.roles) == "train"].iloc[:count]
    more = some.set_axis(range(5000, 5000 + count), axis=0).assign(size=0.5)
    Relation.from_frame(more, "kind", ["train"] * count).save(folder / "more.parquet")
    without = flow.read_text()
    step = '[steps.more]\ndo = "read"\nfile = "more.parquet"\n'
    flow.write_text(f'{without}{step}[steps.grown]\ndo = "update"\nof = ["certain", "more"]\n')
    pushed = command("flow", "push", flow, "--step", "grown")
    first = pushed["summary"]["first_new"]
    assert pushed["summary"]["added"] == {"train": count}
    rows = exported(easeml, pushed["id"], folder)
    assert rows.index[-count:].tolist() == [first, first + 1, first + 2]
    assert rows["size"].tolist()[-count:] == [0.5] * count

    Relation.from_frame(more.assign(size=0.6), "kind", ["train"] * count).save(
        folder / "more.parquet"
    )
    pushed = command("flow", "push", flow, "--step", "grown")
    changed = exported(easeml, pushed["id"], folder)
    assert changed.index.equals(rows.index)  # the same rows, of which each has its id
    assert changed["size"].tolist()[-count:] == [0.6] * count
    back = command("flow", "push", flow, "--step", "current")
    assert back["id"] == load_flow(flow).version  # whose rows these are
    flow.write_text(without)


def computed(flow: Path) -> list[str]:
    """Run a flow; return the steps that were computed and are no versions."""
    steps = command("flow", "run", flow)["steps"]
    return [step["name"] for step in steps if step["computed"] and step["name"] in PEOPLES]
