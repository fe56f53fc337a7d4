"""Which GPU a task gets a share of: laws of the placement, and brute force beside it."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.store.fairness import dominant_share
from easeml.store.gpu_shares import WHOLE, Gpu, granted, place, without_kept

SIZES = st.integers(1, 12)


@st.composite
def gpu(draw: st.DrawFn, id: str = "g") -> Gpu:
    """One whose tasks have no more than there is room for."""
    memory = draw(SIZES)
    foreign = draw(st.integers(0, memory))
    left = memory - foreign
    shares: list[int] = []
    for share in draw(st.lists(SIZES, max_size=3)):
        if share <= left:
            shares.append(share)
            left -= share
    return Gpu(id, memory, foreign, tuple(shares))


@st.composite
def machines(draw: st.DrawFn) -> list[Gpu]:
    return [draw(gpu(str(number))) for number in range(draw(st.integers(0, 4)))]


ASKED = st.integers(WHOLE, 12)


def promised(one: Gpu) -> int:
    return one.foreign + sum(one.shares)


@given(ASKED, machines())
def test_a_gpu_is_never_promised_twice(asked: int, gpus: list[Gpu]) -> None:
    found = place(asked, gpus)
    if found is not None:
        share = granted(asked, found)
        assert 0 < share <= found.memory - promised(found)
        assert asked in (WHOLE, share)
        assert asked != WHOLE or not found.shares


@given(ASKED, machines())
def test_brute_force_finds_no_place_where_none_is_found_and_none_that_is_fuller(
    asked: int, gpus: list[Gpu]
) -> None:
    if asked == WHOLE:
        able = [one for one in gpus if not one.shares and one.memory > one.foreign]
        best = max((one.memory - one.foreign for one in able), default=None)
    else:
        able = [one for one in gpus if one.memory - promised(one) >= asked]
        best = min((one.memory - promised(one) for one in able), default=None)
    found = place(asked, gpus)
    assert (None if found is None else found.memory - promised(found)) == best


@given(ASKED, ASKED, machines())
def test_one_gpu_at_most_is_kept_and_only_for_who_could_have_it(
    oldest: int, younger: int, gpus: list[Gpu]
) -> None:
    left = without_kept(oldest, gpus)
    kept = [one for one in gpus if one not in left]
    assert len(kept) <= 1
    for one in kept:
        assert place(oldest, gpus) is None
        assert granted(oldest, Gpu(one.id, one.memory, one.foreign)) > 0
    if place(oldest, gpus) is not None:
        assert left == gpus


def waits(oldest: int, gpus: Sequence[Gpu], younger: Sequence[int], keeps: bool) -> int | None:
    """Return after how many ends of tasks the oldest is placed, while younger ones never lack.

    One task ends at a time, the one that is there longest; free room is filled at once.
    """
    running = {one.id: list(one.shares) for one in gpus}
    for ended in range(60):
        now = [Gpu(one.id, one.memory, one.foreign, tuple(running[one.id])) for one in gpus]
        if place(oldest, now):
            return ended
        offered = without_kept(oldest, now) if keeps else now
        for asked in younger:
            while found := place(asked, offered):
                running[found.id].append(granted(asked, found))
                at = offered.index(found)
                offered[at] = Gpu(found.id, found.memory, found.foreign, tuple(running[found.id]))
        holding = [id for id, shares in sorted(running.items()) if shares]
        running[holding[ended % len(holding)]].pop(0)
    return None


@given(machines(), st.integers(1, 4), ASKED)
def test_who_waits_gets_a_gpu_though_small_tasks_never_end(
    gpus: list[Gpu], small: int, oldest: int
) -> None:
    able = [one for one in gpus if granted(oldest, Gpu(one.id, one.memory, one.foreign))]
    if able:
        assert waits(oldest, gpus, [small], keeps=True) is not None


def test_without_keeping_one_it_would_wait_for_ever() -> None:
    gpus = [Gpu("a", 8, 0, (3, 3)), Gpu("b", 8, 0, (3, 3))]
    assert waits(WHOLE, gpus, [1], keeps=True) is not None
    assert waits(WHOLE, gpus, [1], keeps=False) is None


@pytest.mark.parametrize(
    ("used", "share"),
    [({}, 0.0), ({"devices": 2}, 0.5), ({"devices": 1, "gpu": 12}, 0.75), ({"other": 9}, 0.0)],
)
def test_a_tenants_largest_share_counts(used: dict[str, float], share: float) -> None:
    assert dominant_share(used, {"devices": 4, "gpu": 16, "none": 0}) == share


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=3),
    st.integers(1, 6),
    st.integers(1, 6),
)
def test_serving_the_smallest_share_is_as_fair_as_any_order(
    wants: list[tuple[int, int]], devices: int, memory: int
) -> None:
    """Progressive filling, beside all that could be given: nobody's share can rise without that of
    somebody who has no more falling (max-min fairness), up to one task.
    """
    wants = [(max(1, device), gpu) for device, gpu in wants]
    capacity = {"devices": devices, "gpu": memory}

    def share(counts: Sequence[int], tenant: int) -> float:
        device, gpu = wants[tenant]
        used = {"devices": counts[tenant] * device, "gpu": counts[tenant] * gpu}
        return dominant_share(used, capacity)

    def fits(counts: Sequence[int]) -> bool:
        totals = [sum(c * w[part] for c, w in zip(counts, wants, strict=True)) for part in (0, 1)]
        return totals[0] <= devices and totals[1] <= memory

    counts = [0] * len(wants)
    while True:
        order = sorted(range(len(wants)), key=lambda tenant: (share(counts, tenant), tenant))
        for tenant in order:
            more = [count + (place == tenant) for place, count in enumerate(counts)]
            if fits(more):
                counts = more
                break
        else:
            break
    # No tenant could have one task more by taking one from a tenant that keeps a larger share.
    for tenant in range(len(wants)):
        for other in range(len(wants)):
            if other == tenant or not counts[other]:
                continue
            moved = list(counts)
            moved[tenant] += 1
            moved[other] -= 1
            if fits(moved):
                assert share(moved, tenant) >= share(moved, other)
