"""Identifiers sort in the order in which they were made."""

import threading

import pytest

from easeml import ids


def test_ids_made_one_after_the_other_sort_so() -> None:
    made = [ids.new_id("task") for _ in range(5_000)]
    assert made == sorted(set(made))


def test_a_clock_that_is_set_back_changes_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    first = ids.new_id("task")
    monkeypatch.setattr(ids.time, "time_ns", lambda: 10**18)
    later = [ids.new_id("task") for _ in range(100)]
    assert [first, *later] == sorted({first, *later})


def test_threads_never_make_the_same_id() -> None:
    made: list[str] = []
    threads = [
        threading.Thread(target=lambda: made.extend(ids.new_id("x") for _ in range(2_000)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == len(made) == 8_000
