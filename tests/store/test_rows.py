from contextlib import suppress
from dataclasses import replace

import pytest

from easeml.contract.states import Lane, TaskGroup, TaskState
from easeml.errors import Conflict, InvalidInput, NotAllowed, NotFound
from easeml.ids import new_id
from easeml.store import Application, Dataset, Store, Task, Tenant, User, grouped, id_of
from easeml.store.records import Artefact
from easeml.store.rows import Of, Tables
from easeml.store.shapes import Rules


def _dataset(tenant: str, name: str = "irises") -> Dataset:
    return Dataset(new_id("ds"), tenant, name)


def test_rows_come_back_as_they_were_added(store, clock):
    task = Task(
        new_id("tsk"),
        "t1",
        "train",
        "search",
        {"a": [1, None, {"ü": 0.1}]},
        result={"x": 1e-9},
        quality=0.1,
    )
    with store.write() as tx:
        added = tx.scoped("t1").tasks.add(task)
    assert added.created == clock.now
    with store.read() as tx:
        assert tx.scoped("t1").tasks.get(task.id) == added


def test_a_tenant_reaches_only_its_own_rows(store):
    mine, theirs = _dataset("t1"), _dataset("t2")
    with store.write() as tx:
        tx.scoped("t1").datasets.add(mine)
        tx.scoped("t2").datasets.add(theirs)
    with store.write() as tx:
        rows = tx.scoped("t1").datasets
        assert [row.id for row in rows.list()] == [mine.id]
        assert rows.count() == 1
        assert rows.find(id=theirs.id) is None
        assert rows.find(tenant_id="t2") is None
        with pytest.raises(NotFound):
            rows.get(theirs.id)
        with pytest.raises(NotFound):
            rows.update(theirs.id, name="taken")
        with pytest.raises(NotAllowed):
            rows.add(_dataset("t2"))
        with pytest.raises(NotAllowed):
            rows.update(mine.id, tenant_id="t2")
        with pytest.raises(NotAllowed):
            tx.scoped("")
        assert tx.unscoped().datasets.get(theirs.id).name == "irises"
        assert tx.unscoped().datasets.count() == 2


def test_every_table_of_tenants_is_scoped(store):
    names = [name for name, one in vars(Tables).items() if isinstance(one, Of)]
    assert len(names) == 33
    with store.read() as tx:
        tables = tx.scoped("t1")
        assert {getattr(tables, name)._tenant for name in names} == {"t1"}
        everything = tx.unscoped()
        assert {getattr(everything, name)._tenant for name in names} == {None}


def test_sizes_are_added_up_by_tenant(store):
    sizes = {"t1": [3, 2**40], "t2": [5]}
    with store.write() as tx:
        for tenant, own in sizes.items():
            for size in own:
                row = Artefact(f"{tenant}:{size}", tenant, str(size), size)
                tx.scoped(tenant).artefacts.add(row)
    with store.read() as tx:
        artefacts = tx.unscoped().artefacts
        found = artefacts.sum_by("size", "tenant_id", tenant_id=["t1", "t2", "t3"])
        assert found == {"t1": 3 + 2**40, "t2": 5}
        assert artefacts.sum_by("size", "tenant_id", tenant_id=[]) == {}
        own = tx.scoped("t2").artefacts
        assert own.sum_by("size", "tenant_id") == {"t2": 5}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("payload", ({"a": [1, None, {"ü": 0.1}]}, {})),
        ("quality", (0.1, None)),
        ("state", (TaskState.DONE, TaskState.WAITING)),
        ("urgent", (True, False)),
        ("attempts", (2**31, 0)),
        ("error", ('It said "no", {1,2}\\', "")),
    ],
)
def test_each_row_gets_its_own_value(store, name, values):
    tasks = [Task(new_id("task"), "t1", "train", "search", {}) for _ in range(2)]
    other, theirs = (Task(new_id("task"), whose, "train", "search", {}) for whose in ("t1", "t2"))
    with store.write() as tx:
        for task in (*tasks, other):
            tx.scoped("t1").tasks.add(task)
        tx.scoped("t2").tasks.add(theirs)
    given = dict(zip((task.id for task in tasks), values, strict=True))
    with store.write() as tx:
        tx.scoped("t1").tasks.set_each(name, {**given, "gone": values[0], theirs.id: values[0]})
    with store.read() as tx:
        now = {task.id: task for task in tx.unscoped().tasks.list()}
    assert tuple(getattr(now[task.id], name) for task in tasks) == values
    for untouched in (other, theirs):
        assert getattr(now[untouched.id], name) == getattr(untouched, name)


def test_compare_and_set(store):
    app = Application(new_id("app"), "t1", "churn", "ds", "ver", "y", "accuracy")
    with store.write() as tx:
        tx.scoped("t1").applications.add(app)
    with store.write() as tx:
        rows = tx.scoped("t1").applications
        changed = rows.update(
            app.id, where={"live_model_id": ""}, live_model_id="m1", rules=Rules(exclude=["svm"])
        )
        assert changed.live_model_id == "m1"
        assert changed.rules == Rules(exclude=["svm"])
    with store.write() as tx, pytest.raises(Conflict, match="m1"):
        tx.scoped("t1").applications.update(app.id, where={"live_model_id": ""}, live_model_id="m2")
    with store.read() as tx:
        assert tx.scoped("t1").applications.get(app.id) == changed


def test_lists_are_paged_in_order_of_id(store):
    rows = [Dataset(f"ds_{number:02}", "t1", f"{number % 2}") for number in range(25)]
    with store.write() as tx:
        tx.unscoped().datasets.add_all(rows)
    with store.read() as tx:
        found = tx.scoped("t1").datasets
        first = found.list(limit=10)
        assert [row.id for row in first] == [row.id for row in rows[:10]]
        assert [row.id for row in found.list(after=first[-1].id, limit=10)] == [
            row.id for row in rows[10:20]
        ]
        assert [row.id for row in found.list(newest_first=True, after="ds_03")] == [
            "ds_02",
            "ds_01",
            "ds_00",
        ]
        assert [row.id for row in found.list(name="1", limit=2)] == ["ds_01", "ds_03"]
        assert len(found.list(name=["0", "1"], limit=None)) == 25
        assert found.list(id=[]) == []
        with pytest.raises(TypeError, match="colour"):
            found.list(colour="red")


def test_a_number_that_no_database_holds_is_a_fault_of_who_named_it(store):
    for number in (2**63, 10**40):
        with pytest.raises(InvalidInput, match="too large"), store.read() as tx:
            tx.tenants.list(skip=number)
        with pytest.raises(InvalidInput, match="too large"), store.write() as tx:
            tx.events.append("kind", "subject", {}, "t1")
            tx.unscoped().tasks.list(state="waiting", skip=number)
    with store.read() as tx:
        assert tx.events.last() == 0


def test_a_text_that_no_database_holds_is_a_fault_of_who_wrote_it(store):
    with pytest.raises(InvalidInput, match="cannot be kept"), store.read() as tx:
        tx.tenants.list(name="half a pair: \ud800")
    with suppress(InvalidInput), store.write() as tx:  # PostgreSQL alone refuses it
        tx.events.append("kind", "a zero: \0", {}, "t1")
    with suppress(InvalidInput), store.write() as tx:
        tx.events.append("kind", "subject", {"of": "a zero: \0"}, "t1")


def test_none_finds_what_is_unset(store):
    with store.write() as tx:
        tasks = tx.scoped("t1").tasks
        unscored = tasks.add(Task(new_id("tsk"), "t1", "train", "search", {}))
        tasks.add(Task(new_id("tsk"), "t1", "train", "search", {}, quality=0.5))
        assert tasks.list(quality=None) == [unscored]


def test_one_of_seventy_thousand_values_is_found(store):
    """More than a database takes parameters; a state, and a value that is nowhere, among them."""
    nowhere = [f"t{number}" for number in range(70_000)]
    with store.write() as tx:
        for name in ("it's", "t", "u"):
            tx.tenants.add(Tenant(name, name))
        tx.scoped("t").tasks.add(Task("task", "t", TaskGroup.TRAIN, Lane.SEARCH, {}))
    with store.read() as tx:
        wanted = ["u", *nowhere, "it's"]
        assert [tenant.id for tenant in tx.tenants.list(id=wanted, limit=None)] == ["it's", "u"]
        assert tx.tenants.count(id=wanted, name=nowhere) == 0
        assert tx.scoped("t").tasks.count(state=[TaskState.WAITING] * 2000) == 1


def test_picked_fields_are_those_of_the_rows_that_are_listed(store):
    with store.write() as tx:
        for number in range(5):
            tx.scoped("t1").datasets.add(replace(_dataset("t1"), id=f"data_{number}"))
        tx.scoped("t2").datasets.add(_dataset("t2"))
    with store.read() as tx:
        rows = tx.scoped("t1").datasets
        for question in (
            {},
            {"id": ["data_1", "data_4"]},
            {"id": []},
            {"id": ["data_1"], "tenant_id": "t2"},
        ):
            listed = [row.id for row in rows.list(**question)]
            assert [id for (id,) in rows.pick("id", **question)] == listed
            assert rows.newest_ids(2, question) == listed[::-1][:2]
        with pytest.raises(TypeError, match="has no field 'colour'"):
            rows.count(colour="red")


def test_what_is_there_cannot_be_added_again(store):
    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "one"))
        tx.users.add(User("u1", "ann", "hash"))
        with pytest.raises(Conflict):
            tx.tenants.add(Tenant("t1", "other"))
        with pytest.raises(Conflict):
            tx.users.add(User("u2", "ann", "hash"))
        tx.users.add(User("u3", "bob", "hash"))  # the transaction is still good
    with store.read() as tx:
        assert [user.name for user in tx.users.list()] == ["ann", "bob"]
        assert tx.tenants.get("t1").name == "one"


def test_an_exception_undoes_the_transaction(store):
    with pytest.raises(ZeroDivisionError), store.write() as tx:
        tx.tenants.add(Tenant("t1", "one"))
        tx.events.append("x", "t1", {}, "t1")
        raise ZeroDivisionError
    with store.read() as tx:
        assert tx.tenants.list() == []
        assert tx.events.last() == 0


def test_reading_transactions_cannot_write_and_see_one_state(store):
    with store.read() as tx:
        assert tx.tenants.count() == 0
        with store.write() as other:
            other.tenants.add(Tenant("t1", "one"))
        assert tx.tenants.count() == 0
        with pytest.raises(RuntimeError, match="write"):
            tx.tenants.add(Tenant("t2", "two"))
    with store.read() as tx:
        assert tx.tenants.count() == 1


def test_the_clock_is_the_databases(open_store):
    store: Store = open_store()
    with store.read() as first:
        before = first.now()
        assert before == first.now()
    with store.read() as second:
        assert before <= second.now() < before + 60
    assert before > 1.7e9


def test_rows_by_id_and_the_newest(store):
    with store.write() as tx:
        found = tx.scoped("t1").datasets
        for number in range(3):
            found.add(Dataset(f"ds_{number}", "t1", f"data {number % 2}"))
        tx.scoped("t2").datasets.add(Dataset("ds_9", "t2", "theirs"))
        assert list(found.by_id()) == ["ds_0", "ds_1", "ds_2"]
        assert found.by_id(name="data 0") == {id: found.get(id) for id in ("ds_0", "ds_2")}
        assert found.by_id(id=[]) == {}
        assert id_of(found.newest()) == "ds_2"
        assert id_of(found.newest(after="ds_2", name="data 0")) == "ds_0"
        assert id_of(found.newest(name="none")) == ""


def test_what_was_found_in_groups():
    groups = grouped(["ab", "c", "ad"], lambda one: one[0])
    assert groups == {"a": ["ab", "ad"], "c": ["c"]}
    assert groups["none"] == []


def test_a_text_is_found_wherever_a_tenant_has_it(store):
    payload = {"columns": {"name": 'Zoë "Z" 100%'}}
    task = Task(new_id("tsk"), "t1", "train", "search", payload, error='of zoë "z" 100%')
    with store.write() as tx:
        tx.scoped("t1").tasks.add(task)
        tx.scoped("t1").datasets.add(_dataset("t1", 'Zoë "Z" 100 '))
        tx.scoped("t2").datasets.add(_dataset("t2", 'Zoë "Z" 100%'))
        tx.events.append("data.erased", "x", {"name": 'Zoë "Z" 100%'}, "t1")
    with store.read() as tx:
        found = {
            f"{one.table}.{one.column}": one.rows for one in tx.mentions("t1", ['Zoë "Z" 100%'])
        }
        assert found == {"tasks.payload": 1, "tasks.error": 1, "events.data": 1}
        assert tx.mentions("t1", []) == tx.mentions("t3", ['Zoë "Z" 100%']) == []
