"""What to do next: at most three actions, the one that brings most for its cost first.

The order of the process is that of Renggli et al., CIDR 2021, figure 2: is the goal feasible? then
search, cleaning or labelling, whichever brings most; then test, pick and watch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from easeml.lifecycle.journey import estimates
from easeml.lifecycle.journey.estimates import NO_GAIN
from easeml.lifecycle.journey.facts import Estimate, Facts, WorkLeft
from easeml.lifecycle.journey.phrases import (
    between,
    checked_so_far,
    counted,
    goal_of,
    told,
    what_best,
)
from easeml.lifecycle.tool_answer import PERSON_SECOND
from easeml.objective_names import in_words

MOST_ACTIONS = 3
FEASIBILITY_SECONDS = 30.0
"""Device seconds that feasibility is taken to need, before it was asked once."""
QUESTION_SECONDS = 10.0
"""Device seconds that a tool is taken to need which asks the model that serves, or small ones."""
_DEBUG_SECONDS = 30.0
_AT_ONCE = 20  # items before one looks again
_FEWEST_TOLD = 20  # rows whose truth came, from which models learn more
_LABEL_MINUTES = 0.25  # of a person for a label, before anybody was timed
_CELL_MINUTES = 0.5
_MANY_TRIED = 20  # candidates compared on the same validation rows
_LEAST_SHOWN = 1e-4  # gain of score
_LEAST_FELT = 1e-3  # gain of score: a mistake less in a thousand
_LONG = 480.0  # minutes of a person: a working day
_UP_TO_DATE = 0.01  # expected gain below which searching on is no advice


@dataclass(frozen=True, slots=True)
class Action:
    """Something to do. ``reason``: why, in words and numbers; ``evidence``: what it rests on.

    ``gain``: of score, with its interval; None where nothing was measured that would tell.
    ``reckoned``: the gain before experience with such actions corrected it; None: it did not.
    ``human_minutes``: a person's time; ``device_seconds``: a machine's.
    """

    kind: str
    title: str
    reason: str
    gain: Estimate | None
    human_minutes: float = 0.0
    device_seconds: float = 0.0
    evidence: tuple[str, ...] = ()
    reckoned: Estimate | None = None

    @property
    def cost(self) -> float:
        """Device seconds, with a person's time at its worth."""
        return self.device_seconds + 60 * self.human_minutes * PERSON_SECOND


def next_actions(facts: Facts) -> list[Action]:
    """Return at most three actions, the first one first.

    What has to come before others comes first; the rest is ordered by gain for its cost.
    """
    if not facts.is_ready:
        why = "The data is being prepared. There is nothing to decide until it is ready."
        return [Action("wait", "Wait for the data", why, NO_GAIN)]
    first = _made(facts, (_fallen, _told, _moved, _goal, _answers, _retire, _feasibility))
    if facts.goal is not None and facts.is_reached:
        later = _made(facts, (_prove, _pick, _meter, _watch))
    else:
        makers = (_search, check_labels, _ask_labels, _pool, _cells, _rows, _lower, _nearly)
        better = _made(facts, makers)
        later = sorted(filter(_may_show, better), key=_rank)
    found = [*first, *later][:MOST_ACTIONS]
    if found:
        return found
    why = f"No measurement shows a further gain. {_how_to_watch(facts)}"
    return [Action("watch", "Watch", why, NO_GAIN)]


def _how_to_watch(facts: Facts) -> str:
    if "monitor" in facts.untold:
        return "Feed newer rows with known answers: they show how right the model is."
    return "Watch the incoming rows."


def _made(facts: Facts, makers: tuple[Callable[[Facts], Action | None], ...]) -> list[Action]:
    found = filter(None, (make(facts) for make in makers))
    return [_corrected(facts, action) for action in found]


def _corrected(facts: Facts, action: Action) -> Action:
    """Return an action with the gain that experience with its kind has made of what is reckoned."""
    known = facts.experience.get(action.kind)
    if known is None or action.gain is None:
        return action
    gain = known.corrected(action.gain)
    steps = counted(known.outcomes, "such step")
    learnt = f"After {steps}, easeml expects {known.factor:.0%} of the estimated gain"
    return replace(action, gain=gain, reckoned=action.gain, evidence=(*action.evidence, learnt))


def _may_show(action: Action) -> bool:
    """Can what an action brings be seen? Twenty labels of a million are minutes for nothing."""
    gain = action.gain
    return gain is None or gain == NO_GAIN or gain.high >= _LEAST_SHOWN


def _rank(action: Action) -> tuple[int, float]:
    """Return what sorts actions: those with a measured gain first, by gain for its cost.

    What surely brings next to nothing comes behind what nobody has measured. What takes a person
    longer than a day comes last: a question to a machine may spare it.
    """
    if action.human_minutes > _LONG:
        return 4, action.cost
    if action.gain is None:
        return 1, action.cost
    if action.gain == NO_GAIN:
        return 3, action.cost
    place = 0 if action.gain.high >= _LEAST_FELT else 2
    return place, -action.gain.value / max(action.cost, 1.0)


def _goal(facts: Facts) -> Action | None:
    if facts.goal is not None:
        return None
    why = "Without a goal, nothing shows whether this is good enough, or when to stop."
    if facts.quality is not None:
        why = f"{why} {_served(facts, facts.quality)}"
    return Action("set-goal", "Set a goal", why, NO_GAIN, human_minutes=1.0)


def _served(facts: Facts, quality: Estimate) -> str:
    """Return what the model that serves reaches: on test rows, where these were read.

    ``quality`` on validation rows is that of the best of many, and flatters.
    """
    found, rows = (quality, "validation") if facts.tested is None else (facts.tested, "test")
    reached = between(found, facts.unit)
    return f"In {in_words(facts.unit)}, the live model reaches {reached} on {rows} rows."


def _answers(facts: Facts) -> Action | None:
    if not facts.answers:
        return None
    waiting = counted(facts.answers, "answer of a person", "answers of people")
    why = f"{waiting} can be used: they make a new version, and the search continues on it."
    return Action("use-answers", "Use the answers", why, None, device_seconds=QUESTION_SECONDS)


def _told(facts: Facts) -> Action | None:
    """Rows whose truth came are due where a forecast begins after them, or production has moved."""
    if facts.told and facts.forecasts:
        values = counted(facts.told, "value has come", "values have come")
        why = (
            f"{values} that the forecast does not know. If they join the data, it begins after the "
            "newest of them, and models learn from them."
        )
        return Action("feed-told", "Add the values that came", why, None, human_minutes=0.5)
    if facts.told < _FEWEST_TOLD or not (facts.moved or facts.watched == "alert"):
        return None
    why = (
        f"Production has changed, and the truth of {facts.told:,} of its rows came. If they join "
        "the data, models learn from them; they do not judge models."
    )
    return Action("feed-told", "Add the rows whose truth came", why, None, human_minutes=0.5)


def _retire(facts: Facts) -> Action | None:
    if not facts.worn:
        return None
    why = (
        f"{counted(facts.worn, 'test row is', 'test rows are')} worn out: no model is tested "
        "on them any more. Models can learn from them, and the gate continues with other rows."
    )
    return Action("retire-test-rows", "Learn from worn-out test rows", why, None)


def _feasibility(facts: Facts) -> Action | None:
    if not _is_due(facts, "feasibility", facts.feasible):
        return None
    why = "The data has changed since easeml last studied what any model could reach."
    if facts.feasible is None:
        why = "easeml has not yet studied what any model could reach with these rows."
    rows = f"{facts.labelled:,} training and validation rows; it does not see test rows"
    return Action(
        "ask-feasibility",
        "Ask whether the goal can be reached",
        why,
        NO_GAIN,
        device_seconds=FEASIBILITY_SECONDS,
        evidence=(rows,),
    )


def _search(facts: Facts) -> Action | None:
    search = facts.search
    if search is None or search.state in ("stopped", "failed", "resting"):
        return None
    gain = estimates.of_search(search)
    if gain is not None and gain.high < _UP_TO_DATE:
        return None
    title = "Let the search continue"
    why = "The search continues by itself. You need not do anything."
    if search.state == "paused":
        title = "Resume the search"
        why = "The search is paused, and some untried candidates may be better."
    return Action(
        "search",
        title,
        why,
        gain,
        device_seconds=estimates.seconds_of_search(search),
        evidence=(f"{search.tried} of {search.candidates} candidates tried",),
    )


def _ask_labels(facts: Facts) -> Action | None:
    is_due = _is_due(facts, "label-errors", facts.suspects)
    if not is_due or not facts.serves or facts.is_searching:
        return None
    why = "easeml has not yet looked for answers in the training rows that contradict the others."
    seconds = QUESTION_SECONDS
    return Action("ask-label-errors", "Look for wrong labels", why, NO_GAIN, 0.0, seconds)


def _is_due(facts: Facts, tool: str, answer: object) -> bool:
    """Tell whether a tool is to be asked: it is not, and its answer lacks or is of older rows.

    One that failed on these rows would fail again.
    """
    is_known = answer is not None and tool not in facts.stale
    return not is_known and tool not in facts.asked | facts.untold | facts.failed.keys()


def check_labels(facts: Facts) -> Action | None:
    """Return the checking of labels that look wrong; None where none does.

    Reads of the facts: ``target``, ``suspects`` and ``work``.
    """
    suspects = facts.suspects
    if suspects is None or not suspects.listed:
        return None
    left = facts.work.get("check-label", WorkLeft(suspects.listed, 60 * _LABEL_MINUTES))
    if not left.items:
        return None
    items = min(_AT_ONCE, left.items)
    minutes = items * (left.seconds / 60)
    share = suspects.listed / max(1, suspects.rows)
    why = (
        f"{suspects.listed:,} of {suspects.rows:,} answers in column '{facts.target}' look wrong "
        f"({share:.1%}); wrong ones mislead models. Check the {items} most likely ones first."
    )
    evidence = [f"{suspects.listed:,} labels contradict what models learn from the other rows"]
    if suspects.checked:
        evidence.append(checked_so_far(suspects))
    gain = estimates.of_checked_labels(suspects, items)
    title = "Check labels that look wrong"
    return Action("check-labels", title, why, gain, minutes, 0.0, tuple(evidence))


def _left(facts: Facts, kind: str, usual: WorkLeft) -> WorkLeft:
    """Return the work of a kind that is left, as measured where there is any; else ``usual``."""
    left = facts.work.get(kind, usual)
    return left if left.items else usual


def _pool(facts: Facts) -> Action | None:
    pool = facts.count("pool")
    if not pool:
        return None
    items = min(_AT_ONCE, pool)
    left = _left(facts, "label", WorkLeft(pool, 60 * _LABEL_MINUTES))
    minutes = items * (left.seconds / 60)
    why = (
        f"{pool:,} rows have no '{facts.target}' yet; {facts.count('train'):,} training rows have "
        f"one. Give it for the {items} most informative rows."
    )
    gain = None
    evidence: tuple[str, ...] = ()
    if facts.feasible is not None:
        gain = estimates.of_more_rows(facts, items)
        evidence = _curve(facts)
    return Action("label", "Label rows of the pool", why, gain, minutes, 0.0, evidence)


def _cells(facts: Facts) -> Action | None:
    if not facts.holes:
        return None
    worst = max(facts.holes, key=lambda name: facts.holes[name])
    left = _left(facts, "repair-cell", WorkLeft(_AT_ONCE, 60 * _CELL_MINUTES))
    items = min(_AT_ONCE, left.items)
    minutes = items * (left.seconds / 60)
    why = (
        f"Cells are missing in {counted(len(facts.holes), 'column')}, most in '{worst}' "
        f"({facts.holes[worst]:.0%} of the rows). Fill in the {items} that change predictions most."
    )
    gain = estimates.of_filled_cells(facts, items)
    return Action("clean", "Fill in doubtful cells", why, gain, minutes)


def _rows(facts: Facts) -> Action | None:
    feasible = facts.feasible
    if feasible is None or feasible.verdict == "realistic":
        return None
    is_short = feasible.doubled is None and not facts.count("pool")
    more = feasible.more_rows or (feasible.rows if is_short else 0)
    if not more:
        return None
    about = _in_two_digits(more)
    why = f"About {about:,} more labelled rows should tell whether the goal can be reached."
    if is_short:
        why = f"{feasible.rows:,} labelled rows are too few to tell what more of them bring."
    if facts.rarest is not None:
        name, rows = facts.rarest
        why += f" The rarest is '{name}' ({rows:,} rows): add those first."
    gain = estimates.of_more_rows(facts, more)
    minutes = more * _LABEL_MINUTES
    return Action("collect", "Add more rows", why, gain, minutes, 0.0, _curve(facts))


def _curve(facts: Facts) -> tuple[str, ...]:
    feasible = facts.feasible
    if feasible is None or feasible.doubled is None:
        return ()
    now = told(feasible.reached, feasible.unit)
    then = between(feasible.doubled, feasible.unit)
    return (f"a quick learner reaches {now} now, and should reach {then} with twice the rows",)


def _lower(facts: Facts) -> Action | None:
    feasible = facts.feasible
    if feasible is None or feasible.verdict != "unrealistic" or facts.goal is None:
        return None
    why = (
        f"The goal, {goal_of(facts)}, is out of reach with these columns and labels: the "
        f"{what_best(feasible)}. Add more informative columns, or lower the goal."
    )
    return Action("lower-goal", "Add columns, or lower the goal", why, NO_GAIN, human_minutes=5.0)


def _prove(facts: Facts) -> Action | None:
    if facts.is_proven or facts.tested is None:
        return None
    why = (
        f"The goal, {goal_of(facts)}, is met on validation rows. On test rows the quality is "
        f"{_what_test_rows_say(facts, facts.tested)}"
    )
    return Action("test-rows", "Add more test rows", why, NO_GAIN, human_minutes=15.0)


def _nearly(facts: Facts) -> Action | None:
    """Where test rows say better than validation rows: the goal may be met already."""
    if facts.tested is None or not facts.may_be_met:
        return None
    why = (
        f"The goal, {goal_of(facts)}, may be met already: on test rows the quality is "
        f"{_what_test_rows_say(facts, facts.tested)}"
    )
    return Action("test-rows", "Add more test rows", why, NO_GAIN, human_minutes=15.0)


def _what_test_rows_say(facts: Facts, tested: Estimate) -> str:
    missing = _missing_test_rows(facts, tested)
    tells = "more test rows would decide"
    if missing:
        tells = f"about {missing:,} more test rows would, if the quality stays the same"
    return f"{between(tested, facts.unit)}, which does not prove it yet: {tells}."


def _missing_test_rows(facts: Facts, tested: Estimate) -> int:
    """Return how many more test rows would prove a goal, to two digits, should the quality stay.

    An interval narrows with the root of its rows. 0 where the quality on test rows misses the goal:
    no number of rows would prove it then.
    """
    assert facts.goal is not None
    worst = tested.high if facts.lower_is_better else tested.low
    spare = abs(tested.value - facts.goal.value)
    if not spare or not facts.meets_goal(tested.value):
        return 0
    rows = facts.count("test")
    return _in_two_digits(rows * (abs(tested.value - worst) / spare) ** 2 - rows)


def _in_two_digits(count: float) -> int:
    """Return a count as people tell it, not less than it is: 2,345 as 2,400."""
    digits = max(0, len(str(int(count))) - 2)
    return math.ceil(count / 10**digits) * 10**digits


def _pick(facts: Facts) -> Action | None:
    if facts.picked or facts.models < 2 or "pick" in facts.untold:
        return None
    why = (
        f"{facts.models} models were trained on past rows. A few labels of today's rows show "
        "which of them is best now."
    )
    minutes = _AT_ONCE * _LABEL_MINUTES
    return Action("pick", "Pick the best model on today's rows", why, NO_GAIN, minutes)


def _meter(facts: Facts) -> Action | None:
    tried = facts.search.tried if facts.search else 0
    is_due = not facts.meter and "meter" not in facts.asked | facts.untold | facts.failed.keys()
    if not is_due or tried < _MANY_TRIED or not facts.count("test"):
        return None
    why = (
        f"{tried} candidates were compared on the same {facts.count('validation'):,} validation "
        "rows. The best of many looks better than it is; the meter shows by how much."
    )
    return Action("ask-meter", "Ask how worn the validation rows are", why, NO_GAIN, 0.0, 10.0)


def _fallen(facts: Facts) -> Action | None:
    """Where production goes worse: find out where and why, then do what corrects most."""
    if facts.watched != "alert" or not facts.serves:
        return None
    remedy = facts.remedy
    if remedy is None:
        if "debug" in facts.asked:
            return None
        why = "Monitoring raised an alert. Find out where the model makes more mistakes, and why."
        return Action(
            "debug", "Find out where it makes mistakes", why, NO_GAIN, 0.0, _DEBUG_SECONDS
        )
    corrects = f"{remedy.corrected:.0f} fewer mistakes ({remedy.low:.0f} to {remedy.high:.0f})"
    why = f"Monitoring raised an alert. {remedy.title}: about {corrects} on the rows looked at."
    return Action(
        "remedy",
        remedy.title,
        why,
        None,
        remedy.human_minutes,
        remedy.device_seconds,
        (remedy.why,),
    )


def _moved(facts: Facts) -> Action | None:
    """Where production looks otherwise, an alert or not: what it says may be wrong unseen."""
    if not facts.moved or not facts.serves or facts.watched == "alert":
        return None
    why = (
        f"{facts.moved} easeml can adapt the model to recent rows without labels; a few labels "
        "then prove whether the result is better."
    )
    return Action("adapt", "Adapt the model to recent rows", why, NO_GAIN, human_minutes=2.0)


def _watch(facts: Facts) -> Action | None:
    can_look = facts.serves and "monitor" not in facts.untold
    if not can_look or facts.watched == "alert":
        return None
    met = "The goal is met" if facts.is_proven else "The goal is met on validation rows"
    why = f"{met}. Add newer rows now and then, to see whether the model is still right."
    return Action("watch", "Watch newer rows", why, NO_GAIN, human_minutes=2.0)
