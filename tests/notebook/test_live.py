"""Relations in notebooks: what shows itself, what buttons do, and the example that is shipped."""

import shutil
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from nbclient import NotebookClient

import easeml
from easeml.errors import InvalidInput
from easeml.lineage import operator, watched_by
from easeml.notebook import latest, live
from easeml.notebook.progress import Bar
from easeml.notebook.widgets import LiveRelation

EXAMPLE = Path(__file__).parents[2] / "docs" / "notebooks" / "dirty-table.ipynb"
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def relation() -> easeml.Relation:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"width": rng.normal(10, 2, 150).round(2)})
    frame["height"] = 2 * frame["width"]
    frame["size"] = np.where(frame["width"] > 10, "large", "small")
    frame.loc[:9, "height"] = np.nan
    frame.loc[130:, "size"] = None
    return easeml.Relation.from_frame(frame, target="size").split().clean()


def pressed(shown: LiveRelation, label: str) -> None:
    """Press the first button with a label, and wait for what it does."""
    for group in shown.groups:
        for button in group["buttons"]:
            if button["label"] == label:
                shown.press(button["name"])
                shown.wait()
                return
    raise AssertionError(f"There is no button {label!r} in {shown.groups}.")


def labels(shown: LiveRelation) -> list[str]:
    return [button["label"] for group in shown.groups for button in group["buttons"]]


def test_candidates_are_accepted_and_taken_back(relation: easeml.Relation):
    shown = live(relation)
    assert latest() is shown
    pressed(shown, "Run")
    assert shown.share == 1.0
    assert shown.relation.content.blocks.doubts == 10

    first = shown.groups[0]
    assert first["title"] == "Row 0, height"
    unlikely = first["buttons"][-1]
    pressed(shown, unlikely["label"])
    assert shown.relation.content.blocks.doubts == 9
    assert f"{shown.relation.to_frame().loc[0, 'height']:g}" == f"{float(unlikely['label']):g}"
    assert shown.groups[0]["title"] == "Row 1, height"

    pressed(shown, "Undo")
    assert shown.relation.content.blocks.doubts == 10


def test_the_next_step_and_labels_by_buttons(relation: easeml.Relation):
    shown = live(relation.eval())
    pressed(shown, "What next?")
    assert "label_next" in labels(shown)
    pressed(shown, "label_next")
    assert shown.relation.target == "size"  # the answer is shown; the relation stays

    before = shown.relation.to_frame()["size"].isna().sum()
    row = shown.groups[0]["title"]
    pressed(shown, "large")
    assert shown.relation.to_frame()["size"].isna().sum() == before - 1
    assert shown.groups[0]["title"] != row


def test_labels_that_look_wrong_are_decided_by_buttons():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"width": rng.normal(size=120).round(2)})
    frame["size"] = np.where(frame["width"] > 0, "large", "small")
    wrong = frame.index[frame["width"] > 1][:2]
    frame.loc[wrong, "size"] = "small"
    step = easeml.Relation.from_frame(frame, target="size").check_labels(n=2)
    with pytest.raises(InvalidInput, match="no relation but Answer") as caught:
        live(step.eval())
    assert "without eval()" in str(caught.value.remedy)
    shown = live(step)
    first = shown.groups[0]
    row = int(first["title"].split(",")[0].removeprefix("Row "))
    assert row in wrong
    assert [button["label"] for button in first["buttons"]] == ["small", "large"]
    pressed(shown, "large")
    assert shown.said == ""
    assert shown.relation.to_frame().loc[row, "size"] == "large"
    assert not shown.groups[0]["title"].startswith(f"Row {row},")


def test_cells_that_vary_together_are_accepted_together():
    frame = pd.DataFrame({"city": ["a", "b"], "code": [1, 2]})
    relation = easeml.Relation.from_frame(frame)
    told = easeml.lineage.operator(name="told-together")(_both)(relation).eval()
    shown = live(told)
    pressed(shown, "c, 3")
    assert shown.relation.to_frame().loc[0].to_list() == ["c", 3]


def _both(relation: easeml.Relation) -> easeml.Relation:
    from easeml.relation import Candidate, RowCandidates

    here = Candidate({"city": "a", "code": 1}, 0.5)
    there = Candidate({"city": "c", "code": 3}, 0.5)
    return relation.with_all([RowCandidates(0, [here, there])])


@pytest.mark.parametrize(("label", "rows"), [("yes", 2), ("no", 1)])
def test_a_row_that_may_exist_is_accepted_or_not(label: str, rows: int):
    relation = easeml.Relation.from_frame(pd.DataFrame({"city": ["a", "b"]}))
    shown = live(relation.with_optional(1, 0.5).eval())
    assert shown.groups[0]["title"] == "Row 1, exists"
    pressed(shown, label)
    assert shown.said == ""
    assert len(shown.relation.to_frame()) == rows
    assert shown.relation.content.blocks.doubts == 0


def test_answers_without_values_show_themselves():
    empty = easeml.Relation.from_frame(pd.DataFrame({"a": pd.Series([], dtype=float)}))
    assert "no value" in empty.average("a")._repr_mimebundle_()["text/plain"]
    assert "mean 0" in empty.sum("a")._repr_mimebundle_()["text/html"]
    assert "0 rows" in empty.eval()._repr_mimebundle_()["text/html"]
    live(empty)


def test_stop_keeps_what_was_computed(relation: easeml.Relation):
    halted: list[LiveRelation] = []

    @operator(name="presses-stop")
    def presses_stop(relation: easeml.Relation) -> easeml.Relation:
        halted[0].press("stop")
        return relation

    begun = presses_stop(relation)
    halted.append(live(begun.filter("width > 0").select(["width", "size"])))
    pressed(halted[0], "Run")
    assert "Stopped" in halted[0].said
    assert not halted[0].busy
    assert not halted[0].relation.node.kept
    pressed(halted[0], "Run")  # goes on where it was, where nothing presses again
    assert halted[0].relation.columns == ["width", "size"]


def test_a_step_that_fails_says_so_and_leaves_the_buttons(relation: easeml.Relation):
    shown = live(relation.filter("nothing > 1"))
    pressed(shown, "Run")
    assert "nothing" in shown.said
    assert not shown.busy
    assert "Run" in labels(shown)
    shown.press("no such button")
    shown._heard(None, "no message", [])
    assert not shown.busy


def test_what_comes_from_data_is_text(relation: easeml.Relation):
    frame = pd.DataFrame({HOSTILE: [HOSTILE, "b"]})
    staged = easeml.Relation.from_frame(frame).with_candidates(0, HOSTILE, {HOSTILE: 0.5, "b": 0.5})
    shown = staged.eval()._repr_mimebundle_()
    assert HOSTILE not in shown["text/html"]
    assert HOSTILE not in shown["image/svg+xml"]
    assert f"{HOSTILE}?"[:10] in shown["text/plain"]


def test_every_evaluation_shows_its_progress_where_it_was_asked_to(relation: easeml.Relation):
    told: list[float] = []
    watched_by(lambda: lambda node, share: told.append(share))
    try:
        relation.eval()
    finally:
        watched_by(None)
    assert told[-1] == 1.0
    relation.filter("width > 0").eval()
    assert told[-1] == 1.0
    assert repr(Bar("clean", 0.5)) == "[##########..........] 50% clean"
    assert 'value="0.500"' in Bar("clean", 0.5)._repr_html_()


def test_without_a_display_there_is_no_latest(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("easeml.notebook._SHOWN", [])
    with pytest.raises(InvalidInput, match="Nothing was shown"):
        latest()


def test_the_example_runs_from_a_raw_file_to_a_gated_model(tmp_path: Path):
    shutil.copy(EXAMPLE, tmp_path)
    book = nbformat.read(tmp_path / EXAMPLE.name, as_version=4)
    kept = [outputs_of(cell) for cell in book.cells]
    client = NotebookClient(book, timeout=240, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()

    made = [outputs_of(cell) for cell in book.cells]
    assert made == kept, "Execute docs/notebooks/dirty-table.ipynb anew and commit it."
    assert "verdict    pass" in "\n".join(["\n".join(texts) for texts in made])
    views = 0
    for cell in book.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            views += "application/vnd.jupyter.widget-view+json" in data
    assert views == 1


def outputs_of(cell: nbformat.NotebookNode) -> list[str]:
    """Return the texts of a cell's outputs, but for what names an object of one session."""
    texts = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "application/vnd.jupyter.widget-view+json" not in data:
            texts.append(data.get("text/plain", ""))
    return texts
