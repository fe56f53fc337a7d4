"""Files of steps: what runs, what is stale and why, and that a file means what the graph meant."""

import json
import re
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
from easeml.lineage import StagedRelation, as_mermaid, as_svg, load_flow, nodes_of
from lineage.test_lineage import STEPS, same, table
from relation.worlds import Doubtful, doubtful

RUNNER = CliRunner()
FLOW = """
[steps.wines]
do = "read"
file = "wines.csv"
target = "quality"

[steps.strong]
do = "filter"
of = "wines"
condition = "alcohol > 12"
expect = "rows > 5"

[steps.other]
do = "select"
of = "wines"
columns = ["alcohol"]

[steps.twice]
do = "with_column"
of = "strong"
name = "double"
formula = { file = "double.txt" }
"""


@pytest.fixture
def flow(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"alcohol": random.uniform(8, 16, 60).round(2)})
    frame["quality"] = np.where(frame["alcohol"] > 11, "good", "bad")
    frame.to_csv(tmp_path / "wines.csv", index=False)
    (tmp_path / "double.txt").write_text("alcohol * 2")
    path = tmp_path / "wines.toml"
    path.write_text(FLOW)
    return path


def call(*words: str | Path, code: int = 0) -> str:
    """Run a command and return what it prints; it has to end with a code."""
    result = RUNNER.invoke(app, ["flow", *map(str, words)])
    assert result.exit_code == code, result.output
    return result.stdout


def steps_of(*words: str | Path, code: int = 0) -> dict[str, dict]:
    listed = json.loads(call(*words, "--json", code=code))["steps"]
    return {step["name"]: step for step in listed}


def test_a_rerun_computes_nothing_and_a_change_what_depends_on_it(flow: Path):
    first = steps_of("run", flow)
    assert all(step["computed"] for step in first.values())
    assert first["strong"]["met"] is True
    again = steps_of("run", flow)
    assert not any(step["computed"] for step in again.values())
    came_out = {name: step["summary"] for name, step in first.items()}
    assert {name: step["summary"] for name, step in again.items()} == came_out
    assert came_out["wines"] == "60 rows, 2 columns"
    assert all(step["current"] for step in steps_of("status", flow).values())
    (flow.parent / "double.txt").write_text("alcohol * 2.0")
    computed = [name for name, step in steps_of("run", flow).items() if step["computed"]]
    assert computed == ["twice"]


def test_an_edit_of_sql_computes_what_depends_on_it(flow: Path):
    sql = flow.with_name("level.sql")
    sql.write_text("-- how strong\nCASE WHEN alcohol > 14 THEN 'strong' ELSE 'medium' END")
    flow.write_text(
        FLOW
        + '[steps.level]\ndo = "with_column"\nof = "strong"\nname = "level"\n'
        + 'sql = { file = "level.sql" }\n'
        + '[steps.medium]\ndo = "filter"\nof = "level"\ncondition = "level == \'medium\'"\n'
    )
    call("run", flow)
    sql.write_text(sql.read_text().replace("14", "13"))
    assert steps_of("status", flow, code=1)["level"]["why"][0].startswith("sql is")
    computed = [name for name, step in steps_of("run", flow).items() if step["computed"]]
    assert computed == ["level", "medium"]
    assert not any(step["computed"] for step in steps_of("run", flow).values())
    sql.write_text("CASE WHEN alcohol > (SELECT avg(alcohol) FROM cells) THEN 1 END")
    result = RUNNER.invoke(app, ["flow", "run", str(flow)])
    assert result.exit_code == 2
    assert "Where: level" in result.stderr
    assert "subqueries cannot be used" in result.stderr


def test_what_is_stale_is_said_with_the_reason(flow: Path):
    assert steps_of("status", flow, code=1)["wines"]["why"] == ["It was never run."]
    call("run", flow)
    flow.write_text(FLOW.replace("alcohol > 12", "alcohol > 13"))
    found = steps_of("status", flow, code=1)
    assert found["wines"]["current"]
    assert found["other"]["current"]
    assert found["strong"]["why"] == ["condition is 'alcohol > 13'; it was 'alcohol > 12'."]
    assert found["twice"]["why"] == ["Its input 'strong' changed."]
    flow.write_text(FLOW)
    with (flow.parent / "wines.csv").open("a") as file:
        file.write("9.5,bad\n")
    found = steps_of("status", flow, code=1)
    assert found["wines"]["why"] == ["The content of file (wines.csv) changed."]


def test_a_renamed_file_changes_nothing(flow: Path):
    call("run", flow)
    (flow.parent / "wines.csv").rename(flow.parent / "others.csv")
    flow.write_text(FLOW.replace("wines.csv", "others.csv"))
    assert all(step["current"] for step in steps_of("status", flow).values())


def test_results_that_were_thrown_away_are_stale(flow: Path):
    call("run", flow)
    for path in (flow.parent / ".easeml-flow" / "results").iterdir():
        path.unlink()
    assert steps_of("status", flow, code=1)["wines"]["why"] == ["Its result was thrown away."]


def test_a_failing_step_is_named_and_what_came_before_it_is_kept(flow: Path):
    flow.write_text(FLOW.replace("alcohol > 12", "missing > 12"))
    result = RUNNER.invoke(app, ["flow", "run", str(flow)])
    assert result.exit_code == 2
    assert "Where: strong" in result.stderr
    flow.write_text(FLOW)
    assert not steps_of("run", flow)["wines"]["computed"]


@pytest.mark.parametrize(
    ("expect", "code"), [("rows > 0 and entropy == 0", 0), ("rows < 0", 1), ("nobody > 1", 2)]
)
def test_exit_codes_follow_what_is_expected(flow: Path, expect: str, code: int):
    flow.write_text(FLOW.replace("rows > 5", expect))
    call("run", flow, code=code)


def test_what_an_answer_does_not_know_cannot_be_told(flow: Path):
    (flow.parent / "ops.py").write_text(
        "import easeml\n"
        "@easeml.lineage.operator\n"
        "def unsure(relation):\n"
        "    return {'verdict': None, 'rows': len(relation)}\n"
    )
    asked = '[steps.asked]\ndo = "unsure"\nof = "wines"\nexpect = "verdict == \'yes\'"\n'
    flow.write_text('operators = ["ops.py"]\n' + FLOW + asked)
    call("run", flow, "--out", flow.parent / "out", code=6)
    assert json.loads((flow.parent / "out" / "asked.json").read_text())["rows"] == 60
    assert len(easeml.Relation.load(flow.parent / "out" / "other.parquet")) == 60


def test_two_files_are_compared(flow: Path):
    newer = flow.with_name("newer.toml")
    newer.write_text(FLOW.replace('do = "select"', 'do = "noted"').replace("columns", "name"))
    newer.write_text(FLOW.replace("[steps.other]", "[steps.another]"))
    found = json.loads(call("diff", flow, newer, "--json", code=1))["steps"]
    assert found == {"another": ["It was added."], "other": ["It was removed."]}
    assert call("diff", flow, flow) == "Nothing differs.\n"


def test_a_graph_is_shown_in_three_forms(flow: Path):
    assert "* strong  filter(condition='alcohol > 12') <- wines" in call("show", flow)
    assert "s0 --> s1" in call("show", flow, "--form", "mermaid")
    assert call("show", flow, "--form", "svg").startswith("<svg")
    picture = as_svg(load_flow(flow))
    tops = [int(top) for top in re.findall(r'<rect x="\d+" y="(\d+)"', picture)]
    assert tops[0] < tops[1] == tops[2] < tops[3]
    flow.write_text(FLOW.replace("alcohol > 12", 'name == \\"<a&#b>\\"'))
    assert "<a" not in as_svg(load_flow(flow))
    assert "#quot;#lt;a&#35;b#gt;#quot;" in as_mermaid(load_flow(flow))


@pytest.mark.parametrize(
    ("changed", "to", "said"),
    [
        ('of = "wines"', 'of = "beers"', "There is no step 'beers'"),
        ('of = "wines"', 'of = "twice"', "circle"),
        ('do = "filter"', 'do = "fliter"', "no operator 'fliter'"),
        ('condition = "alcohol > 12"', "", "missing a required argument"),
        ('do = "select"\nof = "wines"', 'do = "select"', "argument: 'relation'"),
        ("[steps.wines]", "[steps.wines", "is not a TOML file"),
        ("[steps.wines]", "speed = 3\n[steps.wines]", "'speed' has no meaning"),
        ('do = "read"\n', "", "does nothing"),
        ("double.txt", "absent.txt", "cannot be read"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_the_place(
    flow: Path, changed: str, to: str, said: str
):
    flow.write_text(FLOW.replace(changed, to))
    with pytest.raises(InvalidInput, match=said) as found:
        nodes_of(load_flow(flow))
    assert found.value.where


@settings(max_examples=15)
@given(found=doubtful(), names=st.lists(st.sampled_from(sorted(set(STEPS) - {"told"})), max_size=4))
def test_a_file_means_what_the_graph_meant(
    found: Doubtful, names: list[str], tmp_path_factory: pytest.TempPathFactory
):
    relation = StagedRelation(found.relation().content)
    for name in names:
        relation = STEPS[name](relation)
    path = tmp_path_factory.mktemp("flow") / "graph.toml"
    relation.save_flow(path)
    loaded = StagedRelation.from_flow(path)
    same(list(loaded.values())[-1], relation)


def test_candidates_and_joins_are_written_too(tmp_path: Path):
    prices = easeml.Relation.from_frame(pd.DataFrame({"y": [0.0, 1.0], "price": [3, 4]}))
    joined = table().filter("y < 3").select(["x", "y"])
    joined = easeml.Relation.from_frame(joined.to_frame()).join(prices, "y")
    path = tmp_path / "joined.toml"
    joined.with_candidates(1, "price", {5: 0.5, 6: 0.5}).called("last").save_flow(path)
    assert StagedRelation.from_flow(path)["last"].sum("price").mean == pytest.approx(
        joined.sum("price").mean + 1.5
    )
    with pytest.raises(InvalidInput, match="cannot be written to a file"):
        table().filter(lambda frame: frame["x"] > 1).save_flow(path)


def test_a_relation_shows_itself_in_a_notebook():
    staged = table().filter("x >= 0")
    assert "<table>" not in staged._repr_html_()
    shown = staged.eval()._repr_html_()
    assert shown.startswith("<svg")
    assert '<td title="50% likely"><mark>1</mark></td>' in shown
    assert "20 rows, 3 columns, 2 in doubt" in shown
    hostile = easeml.Relation.from_frame(pd.DataFrame({"<b>": ["<script>"]}))
    assert "<script>" not in hostile._repr_html_()


def test_numbers_of_numpy_are_written_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "graph.toml"
    optional = table().with_optional(0, np.float64(0.25))
    optional.split(0.5, np.float32(0.25), 0.25, seed=np.int64(3)).called("last").save_flow(path)
    read = StagedRelation.from_flow(path)["last"]
    assert read.node.parameters == {"train": 0.5, "validation": 0.25, "test": 0.25, "seed": 3}
