"""Those who run this easeml are told of a model that is worse than no model."""

import pytest

from easeml.contract.tasks import TaskResult
from easeml.service.access.caller import Caller
from easeml.service.events import notifications
from easeml.service.modules import catalogue, faults
from easeml.store import Store

from .test_story import decide, searching
from .world import bring, claim

FAULT = "Accuracy 0.154 on 200 rows, where the commonest class alone gives 0.6."


@pytest.mark.usefixtures("admin")
def test_the_provider_is_told_of_a_fault(store: Store, ann: Caller, admin: Caller) -> None:
    app = searching(store, ann)
    decide(store, app, 0)
    _, attempt = claim(store, "search")
    value = {"quality": 0.1, "fault": FAULT}
    outputs = ["model", "predictions"]
    bring(store, attempt, TaskResult(ok=True, value=value, outputs=outputs, cost=1.0))
    (told,) = [one for one in notifications.get(store, admin).items if one.kind == "module.fault"]
    assert told.data == {"module": told.subject, "error": FAULT}
    of_provider = {one.name: one.fault for one in catalogue.get(store, admin).modules}
    assert of_provider[told.subject] == FAULT
    assert not any(one.fault for one in catalogue.get(store, ann).modules)


def test_a_fault_is_told_once_a_day(store: Store, admin: Caller, clock) -> None:
    for hours in (0, 1, 22, 2):
        clock.now += 3600 * hours
        with store.write() as tx:
            faults.tell(tx, "tree", f"after {hours} more hours")
    told = [one.data["error"] for one in notifications.get(store, admin).items]
    assert told == ["after 2 more hours", "after 0 more hours"]
