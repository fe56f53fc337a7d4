"""What a record has is what the database held, and what it held in earlier releases."""

import json
from enum import StrEnum
from typing import get_args, get_type_hints

import pytest
import sqlalchemy as sa
from pydantic import ValidationError

from easeml.contract import states
from easeml.contract.states import ModuleState, TaskGroup, TaskState
from easeml.ids import new_id
from easeml.store import Store, Task, records
from easeml.store.shapes import (
    CandidatePipeline,
    JobLimits,
    ModuleConfig,
    Operation,
    Rules,
    TenantLimits,
    VersionSummary,
)

ENUMERATIONS = [
    one for one in vars(states).values() if isinstance(one, type) and one is not StrEnum
]


def test_a_state_is_a_member_in_a_record_and_plain_text_in_the_database(store: Store):
    task = Task(new_id("task"), "t1", TaskGroup.TRAIN, states.Lane.SEARCH, {"kind": "train"})
    with store.write() as tx:
        tx.scoped("t1").tasks.add(task)
        tx.scoped("t1").tasks.update(task.id, state="done")
    with store.read() as tx:
        found = tx.scoped("t1").tasks.get(task.id)
        counted = tx.scoped("t1").tasks.count_by("state")
    assert found.state is TaskState.DONE
    assert {type(state) for state in counted} == {TaskState}
    with store._engine.connect() as connection:
        row = connection.exec_driver_sql("SELECT kind, lane, state FROM tasks").one()
    assert tuple(row) == ("train", "search", "done")
    assert {type(value) for value in row} == {str}


def test_rows_are_found_by_members_and_by_their_text(store: Store):
    with store.write() as tx:
        for state in TaskState:
            task = Task(new_id("task"), "t1", TaskGroup.TRAIN, states.Lane.SEARCH, {}, state=state)
            tx.scoped("t1").tasks.add(task)
    with store.read() as tx:
        rows = tx.scoped("t1").tasks
        assert rows.count(state=TaskState.FAILED) == rows.count(state="failed") == 1
        assert rows.count(state=states.TASKS_UNDER_WAY) == rows.count(state=["waiting", "running"])
        assert rows.count(state="no such state") == 0


def test_a_module_without_a_state_is_installed(store: Store):
    with store.write() as tx:
        tx.module_marks.add(records.ModuleMark("tree", archived=True))
    with store.read() as tx:
        found = tx.module_marks.get("tree").state
    assert found is ModuleState.INSTALLED
    assert not found


@pytest.mark.parametrize("states", ENUMERATIONS)
def test_every_enumeration_is_used_by_a_record_or_the_wire(states: type):
    used = {hint for record in _records() for hint in get_type_hints(record).values()}
    assert states in used or states in _of_the_wire()


def _records() -> list[type]:
    return [one for one in vars(records).values() if hasattr(one, "__dataclass_fields__")]


def _of_the_wire() -> set[type]:
    from easeml.contract.accounts import Removal
    from easeml.contract.adaptation import AdaptedWay
    from easeml.contract.applications import Application
    from easeml.contract.erasures import Erasure
    from easeml.contract.knowledge import Check
    from easeml.contract.picking import PickingRule
    from easeml.contract.rollouts import EndRollout
    from easeml.contract.scheduling import Believed

    states = {get_type_hints(shown)["state"] for shown in (Check, Believed)}
    ends = {get_type_hints(Removal)["data"], get_type_hints(EndRollout)["end"]}
    ways = {get_type_hints(shown)["way"] for shown in (PickingRule, AdaptedWay)}
    (permission,) = get_args(get_type_hints(Application)["may"])
    return {*states, *ends, *ways, permission, get_type_hints(Erasure)["models_are"]}


SHAPED = {  # as releases up to now have written them
    "limits of a tenant": (TenantLimits, {"priority": 2.0, "devices": 0, "storage": 10**12}),
    "no limits": (TenantLimits, {}),
    "limits of a job": (JobLimits, {"tasks": 9, "seconds": 60.5, "deadline": 1_700_000_000.25}),
    "one limit": (JobLimits, {"tasks": 9}),
    "rules": (
        Rules,
        {"models": None, "exclude": ["svm"], "constrain": {"tree": {"depth": {"low": 1}}}},
    ),
    "pipeline": (
        CandidatePipeline,
        {
            "transforms": [{"module": "scale", "config": {}}],
            "model": {"module": "tree", "config": {"depth": 3}},
        },
    ),
    "upload": (Operation, {"name": "upload", "filename": "a.csv"}),
    "declare": (Operation, {"name": "declare", "target": None, "drop": [], "seed": 7}),
    "feed": (Operation, {"name": "feed", "role": None, "application_id": "app_1"}),
    "summary": (VersionSummary, {"rows": 60, "train": 40, "notes": ["a note"], "later": 1}),
    "empty summary": (VersionSummary, {}),
}


@pytest.mark.parametrize("name", SHAPED)
def test_json_comes_back_as_it_was_written(name: str):
    shape, document = SHAPED[name]
    made = shape.from_json(document)
    assert json.dumps(made.to_json()) == json.dumps(document)
    assert shape.from_json(made.to_json()) == made


def test_a_record_holds_a_shape_and_the_database_plain_json(store: Store):
    pipeline = CandidatePipeline([ModuleConfig("scale")], ModuleConfig("tree", {"depth": 3}))
    candidate = records.Candidate(
        new_id("cand"), "t1", "job_1", 0, "tree", "tree", pipeline, predicted_cost=1.0
    )
    with store.write() as tx:
        tx.scoped("t1").candidates.add(candidate)
    with store.read() as tx:
        assert tx.scoped("t1").candidates.get(candidate.id).pipeline == pipeline
    with store._engine.connect() as connection:
        held = connection.execute(sa.text("SELECT pipeline FROM candidates")).scalar_one()
    document = json.loads(held) if isinstance(held, str) else held
    assert document == {
        "transforms": [{"module": "scale", "config": {}}],
        "model": {"module": "tree", "config": {"depth": 3}},
    }


def test_rules_of_an_early_release_have_what_they_lack():
    assert Rules.from_json({"models": ["tree"]}) == Rules(models=["tree"])


def test_json_of_another_shape_is_refused():
    with pytest.raises(ValidationError):
        CandidatePipeline.from_json({"transforms": []})
    with pytest.raises(ValueError, match="merge"):
        Operation.from_json({"name": "merge"})
