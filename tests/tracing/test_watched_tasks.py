"""A process traces itself while a file of its work folder asks for it."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.spans import span
from easeml.tracing import SWITCH, TRACE, read_trace, timeline_of, watch
from easeml.tracing.lines import Trace
from easeml.tracing.pace import LONGEST, SHARE, Pace, _Clocks
from easeml.tracing.sampler import EVERY, Sampler


def busy_until(reached: Callable[[], bool]) -> None:
    while not reached():
        sum(range(1000))


def noted(folder: Path) -> Trace:
    path = folder / TRACE
    return read_trace(path.read_bytes()) if path.exists() else read_trace(b"")


def names(folder: Path) -> set[str]:
    return {bar.name for track in timeline_of(noted(folder)).tracks for bar in track.bars}


def test_a_running_body_is_traced_from_the_middle_on_and_no_more_when_told(tmp_path: Path) -> None:
    with watch(tmp_path):
        with span("before"):
            assert not (tmp_path / TRACE).exists()
        (tmp_path / SWITCH).touch()
        with span("meanwhile"):
            busy_until(lambda: noted(tmp_path).looks > 5)
        (tmp_path / SWITCH).unlink()
        sizes = [-1]

        def is_still() -> bool:
            threading.Event().wait(0.7)  # longer than it takes to ask, and to write
            sizes.append((tmp_path / TRACE).stat().st_size)
            return sizes[-1] == sizes[-2]

        busy_until(is_still)
        with span("after"):
            pass
    assert {"before", "meanwhile", "after", "busy_until"} <= names(tmp_path)


def test_nothing_is_written_where_nobody_asks(tmp_path: Path) -> None:
    with watch(tmp_path), span("work"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_short_body_is_known_by_its_steps(tmp_path: Path) -> None:
    (tmp_path / SWITCH).touch()
    with pytest.raises(ZeroDivisionError), watch(tmp_path), span("outer"), span("inner"):
        _ = 1 / 0
    (steps,) = [track for track in timeline_of(noted(tmp_path)).tracks if track.name == "steps"]
    assert [(bar.name, bar.depth) for bar in steps.bars] == [("outer", 0), ("inner", 1)]


def test_a_fork_of_a_body_notes_no_steps(tmp_path: Path) -> None:
    (tmp_path / SWITCH).touch()
    with watch(tmp_path):
        child = os.fork()
        if child == 0:
            with span("of the fork"):
                os._exit(0)
        os.waitpid(child, 0)
    assert "of the fork" not in names(tmp_path)


def test_a_link_in_the_place_of_the_trace_is_not_followed(tmp_path: Path) -> None:
    folder, other = tmp_path / "work", tmp_path / "of another"
    folder.mkdir()
    other.write_text("kept")
    (folder / TRACE).symlink_to(other)
    (folder / SWITCH).touch()
    with watch(folder), span("work"):
        pass
    assert other.read_text() == "kept"


def test_a_trace_of_hours_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("easeml.tracing.sampler._SLOWER_AFTER", 10)
    sampler = Sampler()
    before = sampler.every
    for _ in range(20):
        sampler.look()
    assert sampler.every == 4 * before


@given(speed=st.floats(0.05, 4), cost=st.floats(1e-5, 2e-3))
def test_looks_take_a_hundredth_of_a_task_that_works_however_busy_the_machine_is(
    speed: float, cost: float
) -> None:
    """``speed``: processor seconds of the task in a second; ``cost``: those of a look."""
    spent = [0.0, 0.0, 0.0]

    def clocks() -> _Clocks:
        return _Clocks(*spent)

    pace = Pace(clocks)
    looks = 0
    while spent[0] < 60:
        pause = pace.pause(EVERY)
        assert EVERY <= pause <= LONGEST
        spent[0] += pause
        spent[1] += cost
        spent[2] += pause * speed + cost
        looks += 1
    share = spent[1] / (spent[2] - spent[1])
    assert share <= 1.3 * max(SHARE, cost / (LONGEST * speed))
    assert looks >= 60 / LONGEST
