"""What a bar shows of an upload, a search and a task."""

import io

import pytest
from rich.console import Console

from easeml.client import ProgressBar
from easeml.contract.applications import Application
from easeml.contract.jobs import Job
from easeml.contract.task_views import Task


@pytest.fixture
def screen() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def console(screen: io.StringIO) -> Console:
    return Console(file=screen, force_terminal=True, width=100, legacy_windows=False)


def searching(**of_job: object) -> Application:
    job = Job.model_construct(
        tasks_done=3, tasks_failed=1, best_quality=0.81234, cost=5.0, **of_job
    )
    return Application.model_construct(name="churn", job=job)


def test_an_upload_then_its_reading(screen: io.StringIO, console: Console):
    with ProgressBar(console) as bar:
        bar.sent(2**20, 2**22)
    assert "Uploading 4.0 MB" in screen.getvalue()
    assert " 25%" in screen.getvalue()
    with ProgressBar(console) as bar:
        bar.sent(2**22, 2**22)
    assert "Reading" in screen.getvalue()


@pytest.mark.parametrize(
    ("limits", "share"),
    [({}, ""), ({"tasks": 8, "seconds": 100.0}, " 50%"), ({"tasks": 8, "seconds": 6.25}, " 80%")],
)
def test_a_search_by_the_limit_that_it_reaches_first(
    screen: io.StringIO, console: Console, limits: dict[str, float], share: str
):
    with ProgressBar(console) as bar:
        bar.searched(searching(limits=limits))
    assert "churn: 4 tried, best score 0.8123" in screen.getvalue()
    assert share in screen.getvalue()
    assert ("%" in screen.getvalue()) == bool(share)


def test_a_table_in_memory_by_its_rows(screen: io.StringIO, console: Console):
    with ProgressBar(console) as bar:
        bar.predicted(10_000, 40_000)
    assert "Predicting 40,000 rows" in screen.getvalue()
    assert " 25%" in screen.getvalue()


def test_a_task_by_what_it_prints(screen: io.StringIO, console: Console):
    class Service:
        def task_log(self, task_id: str) -> object:
            return type("Log", (), {"text": "reading\n25 of 100 rows\n"})

    with ProgressBar(console) as bar:
        bar.works(Service())(Task.model_construct(id="task_1", kind="predict-file"))  # type: ignore[arg-type]
    assert "Predict-file" in screen.getvalue()
    assert " 25%" in screen.getvalue()


def test_nothing_is_printed_where_nobody_looks(capfd: pytest.CaptureFixture[str]):
    with ProgressBar() as bar:
        bar.sent(1, 2)
    assert capfd.readouterr() == ("", "")
