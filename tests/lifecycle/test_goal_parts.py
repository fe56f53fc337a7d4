"""Goals with further parts: how they are read, and when they are reached."""

import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.journey import Condition, Estimate, Facts, Part, rail, read_goal


def test_parts_are_read_with_their_units() -> None:
    goal = read_goal("balanced-accuracy >= 0.9 and gap(sex) <= 0.05 AND latency at most 20 ms")
    assert (goal.objective, goal.value) == ("balanced-accuracy", 0.9)
    assert goal.parts == (
        Condition("gap(sex)", 0.05, True, "gap(sex) <= 0.05"),
        Condition("latency", 0.02, True, "latency at most 20 ms"),
    )
    (recall,) = read_goal('accuracy >= 0.9 and recall("a and b") at least 80 %').parts
    assert (recall.measure, recall.value, recall.wants_less) == ('recall("a and b")', 0.8, False)
    (size,) = read_goal("0.9 and size < 5 MB").parts
    assert (size.measure, size.value) == ("size", 5e6)
    assert read_goal("error below 5 %").parts == ()


def test_parts_are_read_with_a_decimal_comma() -> None:
    goal = read_goal("error below 2,5 and age above 3,5 and income below 2,5 % and latency <= ,5 s")
    assert goal.value == 2.5
    assert [part.value for part in goal.parts] == pytest.approx([3.5, 0.025, 0.5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.9 and income below 1,000", r"'1,000' may mean 1000 or 1\.000"),
        ("0.9 and gap(sex)", "is not a condition"),
        ("0.9 and latency <= 20", "no unit"),
        ("0.9 and latency <= 20 kg", "'kg' is not a unit of latency"),
        ("0.9 and size >= 5 MB", "wrong side"),
        ("gap(sex) <= 0.05", "is not a goal"),
        ("0.9 and and", "is no"),
    ],
)
def test_what_is_no_goal_says_why(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_goal(text)


def facts(gap: float | None) -> Facts:
    goal = read_goal("accuracy >= 0.9 and gap(sex) <= 0.05")
    good = Estimate(0.95, 0.93, 0.97)
    parts = tuple(Part(one, gap) for one in goal.parts)
    return Facts("y", goal=goal, parts=parts, quality=good, tested=good, serves=True)


def test_a_goal_is_reached_and_proven_only_where_all_parts_hold() -> None:
    assert facts(0.04).is_reached
    assert not facts(0.06).is_reached
    assert not facts(None).is_reached
    assert facts(0.04).is_proven
    assert not facts(0.06).is_proven


def test_the_rail_says_which_part_is_missed() -> None:
    said = {station.name: station.said for station in rail(facts(0.06), [])}
    assert said["Goal"].endswith("gap(sex) is 0.06, but the goal is gap(sex) <= 0.05.")
    said = {station.name: station.said for station in rail(facts(0.04), [])}
    assert said["Goal"].endswith(
        "the first part is met on test rows, the others on validation rows."
    )
    said = {station.name: station.said for station in rail(facts(None), [])}
    assert said["Goal"].endswith("gap(sex) is not measured yet.")
