"""What workers claim by what their machines have left of memory, disk and threads."""

import random
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.contract.states import Lane, ProcessKind, TaskGroup, TaskState
from easeml.ids import new_id
from easeml.store import Store, Task
from easeml.store.machine_room import Needs, Offer, most_here, why_nowhere
from easeml.store.records import Attempt, Process

GIB = 2**30
LEASE = 10.0
MACHINES = ("a", "b", "c")

AMOUNTS = st.integers(0, 6)
NEEDS = st.builds(Needs, AMOUNTS, AMOUNTS, st.integers(1, 3))
MAYBE = st.none() | AMOUNTS
OFFERS = st.lists(
    st.builds(Offer, st.sampled_from(MACHINES), MAYBE, MAYBE, MAYBE, MAYBE, st.integers(1, 3)),
    max_size=4,
)


def could(needs: Needs, offer: Offer, held: Sequence[Needs] = ()) -> bool:
    """Whether a task fits beside others, written out."""
    memory = [needs.memory, *(one.memory for one in held)]
    disk = [needs.disk, *(one.disk for one in held)]
    return all(
        [
            offer.memory is None or needs.memory == 0 or sum(memory) <= offer.memory,
            offer.disk is None or needs.disk == 0 or sum(disk) <= offer.disk,
            offer.memory_each is None or needs.memory <= offer.memory_each,
            offer.disk_each is None or needs.disk <= offer.disk_each,
            offer.threads is None or needs.threads <= offer.threads,
        ]
    )


def whole(held: Sequence[Needs]) -> Needs:
    return sum(held, Needs())


@given(NEEDS, OFFERS, st.lists(NEEDS, max_size=3))
def test_a_task_fits_exactly_where_nothing_is_exceeded(
    needs: Needs, offers: list[Offer], held: list[Needs]
) -> None:
    for offer in offers:
        assert needs.within(offer.most(whole(held))) == could(needs, offer, held)


@given(NEEDS, OFFERS)
def test_why_is_said_exactly_where_it_fits_on_no_empty_machine(
    needs: Needs, offers: list[Offer]
) -> None:
    fits_nowhere = bool(offers) and not any(could(needs, offer) for offer in offers)
    assert bool(why_nowhere(needs, offers)) == fits_nowhere


@given(st.none() | NEEDS, NEEDS, OFFERS, st.dictionaries(st.sampled_from(MACHINES), NEEDS))
def test_one_machine_at_most_is_kept_and_only_for_who_could_have_it(
    oldest: Needs | None, younger: Needs, offers: list[Offer], held: dict[str, Needs]
) -> None:
    kept = set()
    for offer in offers:
        own = offer.most(held.get(offer.machine, Needs()))
        most = most_here(offer, offers, held, oldest)
        assert most.within(own)
        if most != own:
            kept.add(offer.machine)
    assert len(kept) <= 1
    if kept:
        assert oldest is not None
        (machine,) = kept
        assert any(oldest.within(one.most()) for one in offers if one.machine == machine)


def waits(oldest: Needs, offers: Sequence[Offer], small: Needs, *, keeps: bool) -> int | None:
    """Return after how many ends of tasks the oldest is placed, while small ones never lack.

    One task ends at a time, the one that is there longest; free room is filled at once.
    """
    running: dict[str, list[Needs]] = defaultdict(list)
    for ended in range(80):
        held = {machine: whole(found) for machine, found in running.items()}
        for offer in offers:
            if oldest.within(offer.most(held.get(offer.machine, Needs()))):
                return ended
        for offer in offers:
            while True:
                held = {machine: whole(found) for machine, found in running.items()}
                if not small.within(most_here(offer, offers, held, oldest if keeps else None)):
                    break
                running[offer.machine].append(small)
        holding = [machine for machine in sorted(running) if running[machine]]
        if holding:
            running[holding[ended % len(holding)]].pop(0)
    return None


def full(machine: str, memory: int) -> Offer:
    return Offer(machine, memory, 99, memory, 99, 4)


@given(st.lists(st.integers(2, 8), min_size=1, max_size=3), st.integers(1, 8), st.integers(1, 3))
def test_who_waits_gets_a_machine_though_small_tasks_never_end(
    memories: list[int], oldest: int, small: int
) -> None:
    offers = [full(machine, memory) for machine, memory in zip("abc", memories, strict=False)]
    if oldest <= max(memories):
        assert waits(Needs(oldest), offers, Needs(small), keeps=True) is not None


def test_without_keeping_one_it_could_wait_for_ever() -> None:
    offers = [full("a", 8), full("b", 8)]
    running = {"a": Needs(6), "b": Needs(6)}  # of two tasks of 3, one of which always runs
    assert most_here(offers[0], offers, running, Needs(8)).memory == 2
    assert most_here(offers[1], offers, running, Needs(8)).memory == 0  # kept: the last by name


def worker(store: Store, machine: str = "a", memory: int = 8, **more: Any) -> str:
    offer = Offer(machine, memory * GIB, 100 * GIB, memory * GIB, 100 * GIB, 4)
    with store.write() as tx:
        process = Process(
            new_id("proc"), ProcessKind.WORKER, 1, machine, offer=replace(offer, **more)
        )
        tx.processes.add(process)
    return process.id


def task(store: Store, memory: float = 0, *, tenant: str = "t1", **more: Any) -> str:
    with store.write() as tx:
        plain = Task(new_id("task"), tenant, TaskGroup.TRAIN, Lane.SEARCH, {"kind": "train"})
        added = tx.scoped(tenant).tasks.add(replace(plain, memory=int(memory * GIB), **more))
    return added.id


def claim(store: Store, process: str) -> Attempt | None:
    with store.write() as tx:
        found = tx.queue.claim(process, Lane.SEARCH, LEASE)
    return found[1] if found else None


def complete(store: Store, attempt: Attempt) -> None:
    with store.write() as tx:
        tx.queue.complete(attempt, result={}, quality=None, cost=1.0)


def test_workers_of_a_machine_share_its_memory_and_the_third_waits_until_one_ends(
    store: Store,
) -> None:
    workers = [worker(store) for _ in range(3)]
    for _ in range(3):
        task(store, 3)
    first, second, third = (claim(store, one) for one in workers)
    assert first is not None
    assert second is not None
    assert third is None
    complete(store, first)
    assert claim(store, workers[2]) is not None


def test_what_needs_more_than_one_machine_has_goes_to_another(store: Store) -> None:
    small, large = worker(store, "small", 2), worker(store, "large", 8)
    heavy, light = task(store, 6), task(store, 1)
    taken = claim(store, small)
    assert taken is not None
    assert taken.task_id == light
    taken = claim(store, large)
    assert taken is not None
    assert taken.task_id == heavy


@pytest.mark.parametrize("more", [{"disk": 101 * GIB}, {"threads": 5}])
def test_disk_and_threads_count_too(store: Store, more: dict[str, int]) -> None:
    here = worker(store)
    task(store, **more)
    assert claim(store, here) is None
    assert claim(store, worker(store, "b", disk=200 * GIB, disk_each=200 * GIB, threads=8))


def test_who_does_not_say_what_it_offers_takes_all(store: Store) -> None:
    task(store, 500, threads=64)
    with store.write() as tx:
        process = tx.processes.add(Process(new_id("proc"), ProcessKind.WORKER, 1, "old"))
    assert claim(store, process.id) is not None


def test_a_task_that_was_passed_for_a_minute_gets_a_machine(store: Store, clock: Any) -> None:
    workers = [worker(store) for _ in range(4)]
    task(store, 3)
    first = claim(store, workers[0])
    assert first is not None
    large = task(store, 8)
    clock.now += 30
    task(store, 2)
    passing = claim(store, workers[1])
    assert passing is not None
    assert passing.task_id != large
    clock.now += 31
    task(store, 2)
    assert claim(store, workers[2]) is None  # it is kept now
    unknown = task(store)  # of which nothing is known
    taken = claim(store, workers[2])
    assert taken is not None
    assert taken.task_id == unknown
    for one in (first, passing):
        complete(store, one)
    taken = claim(store, workers[3])
    assert taken is not None
    assert taken.task_id == large


def test_the_tenant_with_the_smallest_dominant_share_is_served_first(store: Store) -> None:
    """One has most of the memory and so waits, though it has fewer devices."""
    workers = [worker(store) for _ in range(6)]
    task(store, 6, tenant="much")
    assert claim(store, workers[0]) is not None
    for number in (1, 2):
        task(store, tenant="little")
        assert claim(store, workers[number]) is not None
    task(store, tenant="much")
    expected = task(store, tenant="little")
    taken = claim(store, workers[3])
    assert taken is not None
    assert taken.task_id == expected  # 2 of 6 devices beside 6 of 8 GiB


def test_workers_that_claim_at_once_never_promise_more_than_there_is(store: Store) -> None:
    number = 8
    workers = [worker(store) for _ in range(number)]
    for _ in range(number):
        task(store, 3)
    begin = Barrier(number)

    def race(process: str) -> Attempt | None:
        begin.wait()
        return claim(store, process)

    with ThreadPoolExecutor(number) as threads:
        taken = [one for one in threads.map(race, workers) if one is not None]
    assert len(taken) == 2


@pytest.mark.parametrize("seed", range(3))
def test_whatever_comes_is_placed_as_by_trying_all(store: Store, seed: int) -> None:
    """Tasks come and end at random. A worker gets the oldest one that fits, found by trying each;
    nothing is ever exceeded; in the end only what fits nowhere is left.
    """
    draw = random.Random(seed)
    offers: dict[str, Offer] = {}
    for number in range(4):
        machine = draw.choice("ab")
        memory = {"a": 4, "b": 9}[machine]
        id = worker(store, machine, memory, threads=draw.randint(1, 3), disk=10 * GIB)
        with store.read() as tx:
            offers[id] = tx.processes.get(id).offer
        assert number < len(offers)
    waiting: dict[str, Needs] = {}
    running: dict[str, tuple[str, Needs, Attempt]] = {}

    def step(number: int, *, comes: bool) -> bool:
        if comes and draw.random() < 0.5:
            needs = Needs(draw.randint(0, 10) * GIB, draw.randint(0, 11) * GIB, draw.randint(1, 4))
            id = task(store, needs.memory / GIB, disk=needs.disk, threads=needs.threads)
            waiting[id] = needs
        if running and draw.random() < 0.3:
            id = draw.choice(sorted(running))
            complete(store, running.pop(id)[2])
        process = draw.choice(sorted(offers))
        offer = offers[process]
        here = [needs for by, needs, _ in running.values() if offers[by].machine == offer.machine]
        expected = next((id for id in sorted(waiting) if could(waiting[id], offer, here)), None)
        taken = claim(store, process)
        assert (taken.task_id if taken else None) == expected, number
        if taken is not None:
            needs = waiting.pop(taken.task_id)
            running[taken.task_id] = (process, needs, taken)
        return bool(running)

    for number in range(60):
        step(number, comes=True)
    for number in count(60):
        if not step(number, comes=False) and number > 300:
            break
    left = {id: needs for id, needs in waiting.items() if not why_nowhere(needs, offers.values())}
    assert left == {}
    with store.read() as tx:
        assert tx.unscoped().tasks.count(state=TaskState.WAITING) == len(waiting)
