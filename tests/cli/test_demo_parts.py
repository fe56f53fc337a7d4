"""Tables, memory and progress of the demo."""

import csv
import io
from pathlib import Path

import pytest
from rich.console import Console

from easeml.cli.demo_data import TABLES, DemoTable, first_row, write_table
from easeml.cli.demo_state import DemoState
from easeml.cli.watching import Progress, progress_table
from easeml.contract.applications import Application
from easeml.contract.jobs import Job
from easeml.contract.knowledge import Titles
from easeml.contract.models import TrainedModel

TITLES = Titles(titles={"forest-[a]": "Forest [a]"})


@pytest.mark.parametrize(
    ("table", "rows", "columns"), list(zip(TABLES, (569, 178, 442), (31, 14, 11), strict=True))
)
def test_tables_are_whole(table: DemoTable, rows: int, columns: int, tmp_path: Path):
    path = write_table(table, tmp_path)
    with path.open(newline="") as file:
        read = list(csv.DictReader(file))
    assert (len(read), len(read[0])) == (rows, columns)
    assert table.target in read[0]
    inputs, actual = first_row(path, table.target)
    assert len(inputs) == columns - 1
    assert actual == read[0][table.target]
    changed = path.stat().st_mtime_ns
    assert write_table(table, tmp_path).stat().st_mtime_ns == changed


def test_the_demo_remembers_what_it_began(tmp_path: Path):
    state = DemoState.load(tmp_path)
    tenant = state.tenant("cellar")
    again = DemoState.load(tmp_path).tenant("cellar")
    assert (again.password, again.upload_key) == (tenant.password, tenant.upload_key)
    again_other = DemoState.load(tmp_path).tenant("clinic")
    assert again_other.password != tenant.password


def application(best: float, *, served: bool) -> Application:
    job = Job(
        id="job_1", application_id="app_1", version_id="ver_1", state="running", best_quality=best,
        expected_improvement=0.01234, expected_improvement_error=0.002, cost=3.21, candidates=5, created=1.0,
    )  # fmt: skip
    model = TrainedModel(
        id="mod_1", name="forest-[a]-2", quality=best, task_id="task_1", created=1.0
    )
    return Application(
        id="app_1", name="wine", state="searching", dataset_id="data_1", version_id="ver_1", target="y",
        objective="accuracy", endpoint="/e", job=job, live_model=model if served else None, created=1.0,
    )  # fmt: skip


def test_without_a_terminal_a_line_is_printed_for_each_change():
    out = io.StringIO()
    progress = Progress(Console(file=out, width=200), None, TITLES)
    for best in (0.5, 0.5, 0.75):
        progress.show({"cellar": application(best, served=best > 0.5)})
    assert out.getvalue().splitlines() == [
        "cellar: searching; best so far score 0.5000; 0 of 5 candidates; serves nothing yet",
        "cellar: searching; best so far score 0.7500; 0 of 5 candidates; serves Forest [a] 2",
    ]


def test_the_table_shows_what_is_still_to_come():
    out = io.StringIO()
    shown = [("cellar", application(0.75, served=True))]
    Console(file=out, width=200).print(progress_table(shown, TITLES))
    assert "0.0123 ± 0.0020" in out.getvalue()
    assert "3.2 s" in out.getvalue()
