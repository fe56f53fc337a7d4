"""The five questions of people who know their data (Renggli et al., CIDR 2021, section 2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from easeml.lifecycle.journey.actions import Action
from easeml.lifecycle.journey.facts import Facts, Feasible
from easeml.lifecycle.journey.phrases import best_of, between, goal_of, told, what_failed
from easeml.lifecycle.journey.testing import ROW_SHARES, TOLERANCE, rows_to_test
from easeml.objective_names import in_words

_UNTOLD = "The tool for this question does not support this kind of target."


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer; ``known``: it is one, and not what is missing for it.

    ``tool``: the lifecycle tool that answers in full.
    """

    question: str
    answer: str
    known: bool
    tool: str = ""


def questions(facts: Facts, actions: Sequence[Action]) -> list[Question]:
    """Return the five questions, each with its answer or with what is missing to answer it."""
    found = [_reachable(facts), _examples(facts), _better(actions), _newer(facts), _still(facts)]
    return list(map(partial(_if_told, facts), found))


def _if_told(facts: Facts, found: Question) -> Question:
    """Return a question; of one whose tool tells nothing of the target, that nobody can answer it."""
    is_untold = not found.known and found.tool in facts.untold
    return Question(found.question, _UNTOLD, False) if is_untold else found


def _reachable(facts: Facts) -> Question:
    asked, tool = "Can my goal be reached?", "feasibility"
    if facts.goal is None:
        return Question(asked, "Set a goal first.", False, tool)
    if facts.is_proven:
        assert facts.tested is not None
        found = between(facts.tested, facts.unit)
        return Question(asked, f"You have reached it: {found} on test rows.", True, tool)
    feasible = facts.feasible
    if feasible is None:
        return Question(asked, _why_not_known(facts, tool), False, tool)
    begin = {
        "realistic": f"Yes, {goal_of(facts)} is realistic.",
        "unrealistic": f"No, {goal_of(facts)} is out of reach with these columns and labels.",
        "cannot tell": "easeml cannot tell yet.",
    }.get(feasible.verdict, _not_judged(facts, feasible))
    return Question(asked, f"{begin} {best_of(feasible)}", bool(feasible.verdict), tool)


def _why_not_known(facts: Facts, tool: str) -> str:
    if tool in facts.asked:
        return "easeml is finding out."
    if tool in facts.failed:
        return what_failed(facts, tool)
    return "easeml has not yet studied what any model could reach with these rows."


def _not_judged(facts: Facts, feasible: Feasible) -> str:
    unit = in_words(facts.unit)
    return f"easeml cannot tell this for {unit}, only for {in_words(feasible.unit)}."


def _examples(facts: Facts) -> Question:
    asked, tool = "How many examples do I need?", "feasibility"
    answer = f"{_to_train(facts.feasible)} {_to_test(facts)}".rstrip()
    return Question(asked, answer, facts.feasible is not None, tool)


def _to_test(facts: Facts) -> str:
    if facts.goal is None:
        return ""
    if facts.unit not in ROW_SHARES:
        return (
            f"To test: easeml cannot plan yet how many rows a test of {in_words(facts.unit)} needs."
        )
    goal = facts.goal.value
    return (
        f"To test: {rows_to_test(goal):,} rows{ROW_SHARES[facts.unit]} distinguish "
        f"{told(goal, facts.unit)} from {told(goal - TOLERANCE, facts.unit)} at 95 %; "
        f"there are {facts.count('test'):,}."
    )


def _to_train(feasible: Feasible | None) -> str:
    if feasible is None:
        return "To train: the feasibility study will show this."
    if feasible.verdict == "realistic":
        return f"To train: the {feasible.rows:,} existing rows should be enough."
    if feasible.more_rows:
        return (
            f"To train: about {feasible.more_rows:,} more labelled rows in addition to the "
            f"{feasible.rows:,} existing ones, until the verdict is clear."
        )
    if feasible.verdict == "unrealistic":
        return "To train: more rows alone are not enough; the columns lack information."
    if feasible.doubled is None:
        return "To train: there are too few rows for a learning curve."
    reached = feasible.reached
    doubled = between(feasible.doubled, feasible.unit)
    return (
        f"To train: a quick learner reaches {told(reached, feasible.unit)} with "
        f"{feasible.rows:,} rows, and should reach {doubled} with twice as many."
    )


def _better(actions: Sequence[Action]) -> Question:
    first = actions[0]
    return Question("What should I do to get better?", f"{first.title}. {first.reason}", True)


def _newer(facts: Facts) -> Question:
    asked = "Would the new model help?"
    if facts.tests:
        verdicts = [f"{condition}: {verdict}" for condition, verdict in facts.tests.items()]
        return Question(asked, f"Verdicts of the newest tests: {'; '.join(verdicts)}.", True, "ci")
    if facts.models < 2:
        return Question(asked, "There is no second model to compare yet.", False, "ci")
    missing = "Not tested yet. A test on the test rows shows whether it may replace the live model."
    return Question(asked, missing, False, "ci")


def _still(facts: Facts) -> Question:
    asked = "Is last month's model still right?"
    if facts.watched:
        return Question(asked, f"Result on the newest rows: {facts.watched}.", True, "monitor")
    if not facts.serves:
        return Question(asked, "No model serves yet.", False, "monitor")
    missing = "No newer rows were checked. Upload some; a few with answers help most."
    return Question(asked, missing, False, "monitor")
