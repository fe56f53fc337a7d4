import pytest

from easeml.errors import Fenced, NotFound
from easeml.ids import new_id
from easeml.store import Store, Task

LEASE = 10.0


def _add(
    store: Store, *, lane: str = "search", kind: str = "train", count: int = 1, **options
) -> list[Task]:
    tasks = [
        Task(f"{new_id('tsk')}{number}", "t1", kind, lane, {"n": number}, **options)
        for number in range(count)
    ]
    tasks.sort(key=lambda task: task.id)
    with store.write() as tx:
        return tx.scoped("t1").tasks.add_all(tasks)


def _claim(store: Store, process: str = "p1", lane: str = "search"):
    with store.write() as tx:
        return tx.queue.claim(process, lane, LEASE)


def _fail(store: Store, attempt, *, retry: bool = True) -> Task:
    with store.write() as tx:
        return tx.queue.fail(attempt, error="boom", retry=retry, cost=1.0)


def test_the_oldest_task_of_the_lane_is_claimed(store, clock):
    first, second = _add(store, count=2)
    (short,) = _add(store, lane="short", kind="advise")
    task, attempt = _claim(store)
    assert (task.id, task.state, task.attempts, task.started) == (first.id, "running", 1, clock.now)
    assert (attempt.task_id, attempt.number, attempt.lease_expires) == (
        first.id,
        1,
        clock.now + LEASE,
    )
    assert _claim(store, lane="short")[0].id == short.id
    assert _claim(store)[0].id == second.id
    assert _claim(store) is None
    with store.read() as tx:
        assert tx.scoped("t1").tasks.get(first.id) == task
        assert tx.scoped("t1").attempts.get(attempt.id) == attempt


def test_completion_is_accepted_once(store, clock):
    _add(store)
    _, attempt = _claim(store)
    clock.now += 3
    with store.write() as tx:
        done = tx.queue.complete(attempt, result={"model": "m"}, quality=0.9, cost=2.5)
    assert (done.state, done.quality, done.cost, done.finished) == ("done", 0.9, 2.5, clock.now)
    with pytest.raises(Fenced), store.write() as tx:
        tx.queue.complete(attempt, result={}, quality=0.1, cost=0)
    with store.read() as tx:
        assert tx.scoped("t1").tasks.get(done.id) == done
        assert tx.scoped("t1").attempts.get(attempt.id).state == "done"


def test_a_late_completion_is_refused_when_another_attempt_runs(store, clock):
    _add(store)
    _, late = _claim(store, "p1")
    clock.now += LEASE + 1
    with store.write() as tx:
        assert [task.state for task in tx.queue.reap()] == ["waiting"]
    _, current = _claim(store, "p2")
    assert current.number == 2
    with store.write() as tx:
        assert not tx.queue.renew(late.id, LEASE)
    for act in ("complete", "fail"):
        with pytest.raises(Fenced), store.write() as tx:
            if act == "complete":
                tx.queue.complete(late, result={"from": "late"}, quality=1.0, cost=0)
            else:
                tx.queue.fail(late, error="late", retry=True, cost=0)
    with store.write() as tx:
        assert (
            tx.queue.complete(current, result={"from": "current"}, quality=0.5, cost=1).result[
                "from"
            ]
            == "current"
        )


def test_a_completion_that_is_fenced_leaves_nothing(store, clock):
    _add(store)
    _, attempt = _claim(store)
    with store.write() as tx:
        tx.queue.cancel(attempt.task_id)
    with pytest.raises(Fenced), store.write() as tx:
        tx.events.append("task.done", attempt.task_id, {}, "t1")
        tx.queue.complete(attempt, result={}, quality=1.0, cost=0)
    with store.read() as tx:
        assert tx.events.last() == 0
        assert tx.scoped("t1").tasks.get(attempt.task_id).state == "cancelled"


def test_renewed_leases_are_not_reaped(store, clock):
    _add(store, count=2)
    (_, renewed), (silent_task, _) = _claim(store), _claim(store)
    clock.now += LEASE - 1
    with store.write() as tx:
        assert tx.queue.renew(renewed.id, LEASE)
    clock.now += LEASE - 1
    with store.write() as tx:
        assert [task.id for task in tx.queue.reap()] == [silent_task.id]
        assert tx.queue.reap() == []


def test_failures_are_retried_up_to_max_attempts(store):
    _add(store, max_attempts=2)
    _, attempt = _claim(store)
    waiting = _fail(store, attempt)
    assert (waiting.state, waiting.error, waiting.cost, waiting.finished) == (
        "waiting",
        "boom",
        1.0,
        None,
    )
    _, attempt = _claim(store)
    failed = _fail(store, attempt)
    assert (failed.state, failed.cost, failed.attempts) == ("failed", 2.0, 2)
    assert _claim(store) is None


def test_a_failure_that_is_not_to_be_retried_is_final(store):
    _add(store)
    assert _fail(store, _claim(store)[1], retry=False).state == "failed"


def test_lost_attempts_do_not_use_up_retries_but_end(store):
    _add(store, max_attempts=2)
    _claim(store)
    with store.write() as tx:
        assert [task.state for task in tx.queue.release("p1")] == ["waiting"]
    assert (
        _fail(store, _claim(store)[1]).state == "waiting"
    )  # the first failure, though the second attempt
    states = []
    while _claim(store):
        with store.write() as tx:
            states += [task.state for task in tx.queue.release("p1")]
    assert states == ["waiting", "waiting", "failed"]


def test_release_takes_only_what_the_process_runs(store):
    _add(store, count=3)
    done, mine, _other = _claim(store, "p1"), _claim(store, "p1"), _claim(store, "p2")
    with store.write() as tx:
        tx.queue.complete(done[1], result={}, quality=None, cost=0)
        assert [task.id for task in tx.queue.release("p1")] == [mine[0].id]
    with store.read() as tx:
        assert tx.unscoped().tasks.count(state="running") == 1
        assert tx.unscoped().attempts.get(mine[1].id).state == "lost"


def test_cancelling(store):
    waiting, running, done = _add(store, count=3)
    with store.write() as tx:
        assert tx.queue.cancel(waiting.id).state == "cancelled"
    _, attempt = _claim(store)
    assert attempt.task_id == running.id
    with store.write() as tx:
        tx.queue.cancel(running.id)
        assert tx.unscoped().attempts.get(attempt.id).state == "lost"
    _, attempt = _claim(store)
    with store.write() as tx:
        tx.queue.complete(attempt, result={}, quality=None, cost=0)
        assert tx.queue.cancel(done.id).state == "done"
        with pytest.raises(NotFound):
            tx.queue.cancel("tsk_none")


def test_tenants_take_turns_however_many_tasks_one_of_them_brought(store, clock):
    _bring(store, "many", 6)
    _bring(store, "small", 1)
    _bring(store, "other", 2)
    served = []
    for _ in range(6):
        task, attempt = _claim(store, lane="short")
        served.append(task.tenant_id)
        clock.now += 1
        with store.write() as tx:
            tx.queue.complete(attempt, result={}, quality=None, cost=1.0)
    assert served == ["many", "small", "other", "many", "other", "many"]


def test_a_free_slot_goes_to_the_tenant_with_the_fewest_running_tasks(store, clock):
    _bring(store, "many", 3)
    first, _ = _claim(store, lane="short")
    clock.now += 1
    second, _ = _claim(store, lane="short")
    clock.now += 1
    _bring(store, "small", 2)
    served = [_claim(store, lane="short")[0].tenant_id for _ in range(3)]
    assert [first.tenant_id, second.tenant_id] == ["many", "many"]
    assert served == ["small", "small", "many"]


def _bring(store: Store, tenant: str, count: int) -> None:
    """Let a tenant wait with as many tasks in the short lane."""
    tasks = [Task(new_id("tsk"), tenant, "ingest", "short", {}) for _ in range(count)]
    with store.write() as tx:
        tx.scoped(tenant).tasks.add_all(tasks)
