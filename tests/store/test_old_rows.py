"""Rows of the releases before are brought to the form of this one."""

from importlib import import_module

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

from easeml.contract.states import MemberRole
from easeml.store import Store, Tenant
from easeml.store.database import connect
from easeml.store.records import Membership, Report, TrainedModel


def upgrade(url: str, revision: str) -> None:
    """Do what the migration in this file does, on tables of today."""
    engine = connect(url)
    migration = import_module(f"easeml.store.migrations.versions.{revision}")
    writing = engine.connect().execution_options(writes=True)
    with writing as connection, connection.begin():
        context = MigrationContext.configure(connection)
        with Operations.context(context):
            migration.upgrade()
    engine.dispose()


def report_of(store: Store, id: str) -> Report:
    with store.read() as tx:
        return tx.scoped("t1").reports.get(id)


def test_measured_importance_becomes_an_answer_about_the_model(open_store, url) -> None:
    store = open_store()
    items = [{"column": "size", "loss": 0.25, "error": None}]
    measured = {"rows": 12, "columns": 2, "items": items, "unmeasured": ["age"]}
    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "lab"))
        tables = tx.scoped("t1")
        model = TrainedModel(
            id="mod_1", tenant_id="t1", application_id="app_1", job_id="job_1", task_id="task_1",
            candidate_id="can_1", name="logistic", artefact="", predictions="", quality=0.5,
        )  # fmt: skip
        tables.models.add(model)
        tables.reports.add(Report("rep_1", "t1", "importance", "task_1", "ver_1", measured))
        looked = {"artefact": "digest", "number": 3}
        tables.reports.add(Report("rep_3", "t1", "suspicion", "app_1", "ver_1", looked))
        tables.reports.add(Report("rep_2", "t1", "rescore", "app_1", "ver_1", {"quality": 0.5}))
    untouched = report_of(store, "rep_2")
    upgrade(url, "0006_importance_is_an_answer")
    upgrade(url, "0009_suspicion_is_an_answer")

    found = report_of(open_store(), "rep_1")
    assert (found.subject, found.value["model_id"]) == ("app_1", "mod_1")
    answer = found.value["answer"]
    assert answer["tables"][0]["rows"] == [["size", 0.25, None]]
    assert answer["notes"] == ["There was no time for: age."]
    assert report_of(open_store(), "rep_2") == untouched
    scores = report_of(open_store(), "rep_3")
    assert (scores.kind, scores.value["rows"]) == ("label-errors", "digest")


def test_who_belonged_to_a_tenant_owns_it(open_store, url) -> None:
    store = open_store()
    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "lab"))
        tx.scoped("t1").memberships.add(Membership("mem_1", "usr_1", "t1", role=MemberRole.GUEST))
    engine = connect(url)
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        connection.execute(sa.text("DROP TABLE invitations"))
        connection.execute(sa.text("ALTER TABLE memberships DROP COLUMN role"))
    engine.dispose()
    upgrade(url, "0023_invitations")
    with open_store().read() as tx:
        assert tx.scoped("t1").memberships.get("mem_1").role == MemberRole.OWNER
        assert tx.scoped("t1").invitations.list() == []
