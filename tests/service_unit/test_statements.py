"""A list costs a constant number of SQL statements, however many rows it shows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from easeml.contract.accounts import NewUser
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.accounts import keys, users
from easeml.service.administration import provider_view, status
from easeml.service.applications import applications
from easeml.service.datasets import datasets
from easeml.service.events import notifications
from easeml.service.modules import catalogue
from easeml.service.retention import looks
from easeml.service.scheduling import overview
from easeml.service.search import jobs
from easeml.service.tasks import task_views
from easeml.service.versions import version_views
from easeml.service.views import application_view, task_view
from easeml.settings import Settings
from easeml.store import Store, Tables, Transaction
from easeml.store.records import (
    Application,
    Artefact,
    Attempt,
    Candidate,
    Dataset,
    DatasetVersion,
    Decision,
    Job,
    Promotion,
    Report,
    Task,
    TrainedModel,
)
from easeml.store.shapes import (
    CandidatePipeline,
    JobLimits,
    ModuleConfig,
    Operation,
    OperationName,
    VersionSummary,
)
from postgres_cluster import cluster, database

FEW, MANY = 5, 25

# list -> the most statements that it may cost, without BEGIN; PostgreSQL is asked for its clock
LISTS: dict[str, tuple[int, Callable[[Store, Caller], object]]] = {
    "applications": (22, applications.list_page),
    "one application": (22, lambda s, c: applications.get(s, c, _first(s, c, "applications"))),
    "models of an application": (
        12,
        lambda s, c: applications.models(s, c, _first(s, c, "applications")),
    ),
    "page of an application": (
        47,
        lambda s, c: application_view.get(s, c, _first(s, c, "applications")),
    ),
    "page of its models": (
        38,  # with its measures, and what breaks its rules
        lambda s, c: application_view.leaderboard(s, c, _first(s, c, "applications")),
    ),
    "page of what it served": (
        66,  # with what production showed of it, what is kept of it, roll-outs, bought and drawn
        # labels, and whether rows may have several answers, for which much of that is not there
        lambda s, c: application_view.history(s, c, _first(s, c, "applications")),
    ),
    "page of a task": (
        6,
        lambda s, c: task_view.get(s, Settings(), c, _first(s, c, "tasks")),
    ),
    "promotions": (2, lambda s, c: applications.promotions(s, c, _first(s, c, "applications"))),
    "jobs": (10, jobs.list_page),
    "one job": (10, lambda s, c: jobs.get(s, c, _first(s, c, "jobs"))),
    "tasks": (3, task_views.list_page),
    "tasks with counts and names": (5, task_views.overview),
    "unused datasets": (5, datasets.unused),
    "decisions": (1, task_views.decisions_page),
    "datasets": (3, datasets.list_page),
    "versions": (2, lambda s, c: version_views.of_application(s, c, _first(s, c, "applications"))),
    "modules": (12, catalogue.get),
    "scheduling overview": (
        21,  # with the policy in force, which the route asked for apart
        lambda s, c: overview.show(s, Settings(), c, span=3600.0),
    ),
    "notifications": (8, notifications.get),
    "users": (1, users.list_users),
    "tenants": (6, provider_view.tenants),
    "what goes": (60, lambda s, _: looks.plan(s, Settings())),  # one a table, for what it names
    "status": (8, lambda s, c: status.get(s, Settings(), c)),
}


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """The URL of a running cluster's databases, without the name."""
    with cluster() as template:
        yield template


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store on each kind of database."""
    if request.param == "sqlite":
        with _opened(f"sqlite:///{tmp_path / 'easeml.db'}", tmp_path) as store:
            yield store
        return
    with database(request.getfixturevalue("postgres")) as url, _opened(url, tmp_path) as store:
        yield store


@contextmanager
def _opened(url: str, folder: Path) -> Iterator[Store]:
    store = Store.open(url, folder / "artefacts")
    yield store
    store.close()


@pytest.fixture
def provider(store: Store) -> Caller:
    first = users.create_first_provider(store)
    assert first is not None
    return keys.authenticate(store, keys.sign_in(store, *first).secret or "")


def test_lists_cost_the_same_for_few_and_many_rows(store: Store, provider: Caller) -> None:
    _fill(store, provider, FEW)
    few = {name: _statements(store, provider, ask) for name, (_, ask) in LISTS.items()}
    _fill(store, provider, MANY - FEW)
    many = {name: _statements(store, provider, ask) for name, (_, ask) in LISTS.items()}
    assert many == few
    assert min(few.values()) > 0, "statements are not counted any more"
    over = {name: few[name] for name, (most, _) in LISTS.items() if few[name] > most}
    assert over == {}


def test_a_list_of_nothing_costs_no_more(store: Store, provider: Caller) -> None:
    for name in ("applications", "jobs", "tasks", "datasets", "notifications"):
        most, ask = LISTS[name]
        assert _statements(store, provider, ask) <= most


def test_a_page_shows_what_each_row_shows_alone(store: Store, provider: Caller) -> None:
    _fill(store, provider, FEW)
    found = applications.list_page(store, provider).items
    assert len(found) == FEW
    assert found == [applications.get(store, provider, one.id) for one in found]
    own = jobs.list_page(store, provider).items
    assert own == [jobs.get(store, provider, one.id) for one in own]
    data = datasets.list_page(store, provider).items
    assert data == [datasets.get(store, provider, one.id) for one in data]
    assert {one.name for one in notifications.get(store, provider).items} >= {"app 1", "data 1"}


def _statements(store: Store, caller: Caller, ask: Callable[[Store, Caller], object]) -> int:
    """How many statements it takes to answer, without those that begin a transaction."""
    _first(store, caller, "applications")  # remembered before the counting
    _first(store, caller, "jobs")
    _first(store, caller, "tasks")
    seen: list[str] = []

    def note(_connection, _cursor, statement: str, *_) -> None:
        if not statement.startswith("BEGIN"):
            seen.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        ask(store, caller)
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
    return len(seen)


_remembered: dict[tuple[int, str], str] = {}


def _first(store: Store, caller: Caller, table: str) -> str:
    """The id of the tenant's oldest row, looked up once a store."""
    key = (id(store), table)
    if not _remembered.get(key):
        with store.read() as tx:
            found = getattr(tx.scoped(caller.tenant_id), table).list(limit=1)
        _remembered[key] = found[0].id if found else ""
    return _remembered[key]


def _fill(store: Store, caller: Caller, number: int) -> None:
    """Write so many applications, each with its own data, search, models, tasks and users."""
    with store.read() as tx:
        there = tx.scoped(caller.tenant_id).applications.count()
    for place in range(there + 1, there + number + 1):
        users.create_user(store, caller, NewUser(name=f"user-{place}", password="correct horse"))
        with store.write() as tx:
            _write_application(tx, caller.tenant_id, place)


def _write_application(tx: Transaction, tenant_id: str, place: int) -> None:
    tables = tx.scoped(tenant_id)
    data = tables.datasets.add(Dataset(new_id("data"), tenant_id, f"data {place}"))
    _write_version(tables, data, 1, "upload")
    version = _write_version(tables, data, 2, "declare")
    app = tables.applications.add(
        Application(
            new_id("app"), tenant_id, f"app {place}", data.id, version.id, "colour", "accuracy"
        )
    )
    job = tables.jobs.add(
        Job(
            new_id("job"), tenant_id, app.id, version.id, state="running", limits=JobLimits(tasks=9)
        )
    )
    for arm, quality in enumerate((0.5, 0.7)):
        model = _write_model(tables, _write_task(tables, job, arm, "done", quality), app.id)
    for arm, state in enumerate(("failed", "running", "waiting"), 2):
        _write_task(tables, job, arm, state)
    live = model.id  # pyright: ignore[reportPossiblyUnbound]
    tables.applications.update(app.id, live_model_id=live, state="serving")
    tables.promotions.add(
        Promotion(new_id("pro"), tenant_id, app.id, live, "", "live", "better", "the first")
    )
    reading = {"value": 0.6, "low": 0.5, "high": 0.7, "rows": 10, "model_id": live}
    tables.reports.add(
        Report(new_id("rep"), tenant_id, "test-quality", app.id, version.id, reading)
    )
    tx.events.append("promotion.live", app.id, {"model_id": live}, tenant_id)
    tx.events.append("job.resting", job.id, {"application_id": app.id}, tenant_id)
    tx.events.append("dataset.failed", version.id, {}, tenant_id)


def _write_version(tables: Tables, data: Dataset, number: int, how: str) -> DatasetVersion:
    return tables.versions.add(
        DatasetVersion(
            new_id("ver"),
            data.tenant_id,
            data.id,
            number,
            Operation(OperationName(how), {"filename": "data.csv"}),
            state="ready",
            summary=VersionSummary({"rows": 60, "validation": 10}),
        )
    )


def _write_task(
    tables: Tables, job: Job, arm: int, state: str, quality: float | None = None
) -> Task:
    """Write a candidate, its task and the decision to train it."""
    pipeline = CandidatePipeline([], ModuleConfig("tree"))
    candidate = tables.candidates.add(
        Candidate(new_id("cand"), job.tenant_id, job.id, arm, f"tree-{arm}", "tree", pipeline, 1.0)
    )
    task = tables.tasks.add(
        Task(
            new_id("task"),
            job.tenant_id,
            "train",
            "search",
            {"kind": "train"},
            job_id=job.id,
            candidate_id=candidate.id,
            state=state,
            quality=quality,
            cost=1.0,
            finished=float(arm) if state == "done" else None,
        )
    )
    tables.attempts.add(Attempt(new_id("att"), job.tenant_id, task.id, 1, "proc_1", 0.0))
    tables.decisions.add(
        Decision(new_id("dec"), job.tenant_id, job.id, task.id, candidate.id, "test", 1, {})
    )
    return task


def _write_model(tables: Tables, task: Task, application_id: str) -> TrainedModel:
    digest = new_id("art")
    tables.artefacts.add(Artefact(f"{task.tenant_id}/{digest}", task.tenant_id, digest, 1000))
    return tables.models.add(
        TrainedModel(
            new_id("mod"),
            task.tenant_id,
            application_id,
            task.job_id,
            task.id,
            task.candidate_id,
            "tree",
            digest,
            "",
            task.quality or 0.0,
        )
    )
