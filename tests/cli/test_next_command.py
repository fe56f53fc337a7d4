"""How ``app next`` tells a goal and what an action costs."""

import pytest

from easeml.cli.journey import print_journey
from easeml.contract.journey import Action, Goal, Journey


def _shown(capsys: pytest.CaptureFixture[str], goal: Goal, minutes: float) -> str:
    action = Action(
        kind="set-goal",
        title="Set a goal",
        reason="None is set.",
        human_minutes=minutes,
        device_seconds=0.0,
    )
    journey = Journey(
        application_id="app_1", goal=goal, actions=[action], stations=[], questions=[]
    )
    print_journey(journey)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("minutes", "told"), [(0.4, "About 1 minute of"), (1.0, "1 minute of"), (5.0, "5 minutes of")]
)
def test_a_persons_time_is_told_in_whole_minutes(
    capsys: pytest.CaptureFixture[str], minutes: float, told: str
) -> None:
    assert told in _shown(capsys, Goal(), minutes)


def test_a_goal_names_its_objective_once(capsys: pytest.CaptureFixture[str]) -> None:
    named = Goal(text="accuracy >= 0.9", objective="accuracy", value=0.9)
    assert "Goal: accuracy >= 0.9.\n" in _shown(capsys, named, 1.0)
    bare = Goal(text="0.9", objective="accuracy", value=0.9)
    assert "Goal: 0.9 (by accuracy).\n" in _shown(capsys, bare, 1.0)
