"""A gate: what has to be proven of a model on test rows before it may serve an application.

The test is that of ``easeml.lifecycle.ci``. A gate has test rows that are all labelled, and may have
a reserve of rows without labels, where labels are bought one by one if the test rows cannot tell:
only of rows on which the models differ, in a random order. What differs from ``ci`` is who asks. An
application lets the models that pass serve by itself, so the *old* model of a test depends on
earlier answers even where nobody looks at them; ``open_gate`` asks for the evidence that this takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.ci import (
    Adaptivity,
    Config,
    Examples,
    Ledger,
    Metric,
    Outlook,
    Spent,
    Verdict,
    can_pass,
    clauses,
    commit_digest,
    groups_of,
    labels_to_come,
    open_ledger,
    rows_that_settle,
    rows_that_show,
    score_examples,
    uses_old,
)
from easeml.lifecycle.ci.outlook import rows_wanted
from easeml.lifecycle.ci.verdict import EXHAUSTED, FAIL, PASS

TWO_TESTS = math.log(2)
"""Evidence that each of two test sets takes, where either may prove a condition: half the error."""
_USUALLY_CHANGED = 0.1  # of the predictions, by a new model
_ASKED_AT_ONCE = 10  # labels, in the order in which the test needs them
_ERRORS = (Metric.ABSOLUTE_ERROR, Metric.SQUARED_ERROR, Metric.BRIER)
_BETTER = {False: ("qualities: more", "n - o", -1.0), True: ("errors: less", "o - n", 1.0)}
"""Of qualities and of errors: what is better, how that is written, and the sign of what is worse."""
_NOT_COMPARED = "It was not compared with what served."
_MAY_BE_WORSE = (
    "It does not compare: a model that is worse than the one that serves may take its place. A "
    "condition on n and o prevents that."
)
_ANSWERS = 3  # that a step can have: it holds, it does not, or the rows cannot tell


@dataclass(frozen=True)
class Tested:
    """N rows on which models are tested.

    ``new``, ``old``: what the models predict of them (``old`` None: the condition is about the new
    model alone); ``answers``: what is true, None where that is not known; ``rows``: a frame of
    them, which a condition on groups needs.
    """

    new: Sequence[Any]
    old: Sequence[Any] | None
    answers: Sequence[Any]
    rows: Any = None

    @property
    def commit(self) -> str:
        """The name of this pair of models."""
        return commit_digest(self.new, self.old)

    def scored(self, config: Config) -> Examples:
        """Return the scores; raises as ``score_examples``."""
        return score_examples(self.new, self.old, self.answers, config, self.rows)


def open_gate(config: Config, rows: int, told: float = 0.0) -> Ledger:
    """Return the ledger of a gate on ``rows`` labelled test rows.

    ``told``: what these rows have told before, in nats (ln of a number of histories).

    Raises:
        InvalidInput: if there are no rows, or the condition holds always or never.
    """
    spent = Spent(nats=told + own_nats(config), seed=config.seed)
    return open_ledger(config, np.ones(rows, dtype=bool), spent=spent)


def open_reserve(config: Config, rows: int, told: float = 0.0) -> Ledger:
    """Return the ledger of a gate on ``rows`` rows whose labels are bought as a test needs them.

    With firstChange, too, each step takes rows that none has looked at: the people of an
    application give the labels, and a next model may be made of them.

    ``told``: as in ``open_gate``. Raises as that.
    """
    spent = Spent(nats=told + own_nats(config) + TWO_TESTS, seed=config.seed)
    few = replace(config, batch=_ASKED_AT_ONCE)
    if config.adaptivity is Adaptivity.FIRST_CHANGE:
        few = replace(few, adaptivity=Adaptivity.FULL)
    return open_ledger(few, np.zeros(rows, dtype=bool), spent=spent)


def spent_gate(config: Config) -> Ledger:
    """Return the ledger of a gate that has no labelled rows left: it can test no model."""
    return open_ledger(config, np.ones(1, dtype=bool), spent=Spent(rows=1, seed=config.seed))


def narrowed(ledger: Ledger, rows: int) -> Ledger:
    """Return the ledger of a gate of whose labelled test rows only so many are left.

    The others were erased, for a reason that has nothing to do with the models. What was answered
    counts on; with fewer rows more steps may stay open, and each takes the evidence for that.

    Raises:
        InvalidInput: if no row is left.
    """
    if rows == ledger.examples:
        return ledger
    if not rows:
        raise InvalidInput(
            "All test rows of the gate were erased.",
            remedy="Feed new labelled rows, and set the gate again.",
        )
    fewer = open_ledger(ledger.config, np.ones(rows, dtype=bool), spent=ledger.spent)
    answers = max(ledger.answers, fewer.answers)
    return replace(fewer, history=ledger.history, answers=answers)


def examine(ledger: Ledger, tested: Tested) -> tuple[Verdict, Ledger]:
    """Test a model against the one that serves; return the verdict and the ledger after it.

    ``tested``: the ledger's rows, with all answers. The ledger keeps the answer alone of a step:
    how soon a test ended tells more than it was charged for.

    Raises:
        InvalidInput: if lengths differ, an error metric meets what is no number, or a group is of
            a column that the rows lack.
    """
    verdict, after = ledger.test(tested.commit, tested.scored(ledger.config))
    history = tuple(replace(step, labels=0, rows=0) for step in after.history)
    return verdict, replace(after, history=history)


def examine_reserve(
    ledger: Ledger, tested: Tested, elsewhere: Tested, labels: int
) -> tuple[Verdict, Ledger, Outlook | None]:
    """Test a model on the rows of a reserve, of some of which answers were bought.

    Returns the verdict, which names the rows whose answers it wants next, the ledger after it, and
    how many it will want: None where it wants some, and no answers within the budget could prove
    the condition. Asked again with more answers, in whatever order they came, it goes on.

    Args:
        ledger: of ``open_reserve``.
        tested: the ledger's rows, with the answers that were bought.
        elsewhere: labelled rows that are no part of the test. They only tell how many labels will
            be wanted.
        labels: that may still be bought.
    """
    examples = tested.scored(ledger.config)
    commit = tested.commit
    verdict, after = ledger.test(commit, examples)
    outlook = Outlook(0, 0)
    if verdict.labels_wanted:
        if not can_pass(ledger, commit, examples, labels):
            return verdict, after, None
        outlook = labels_to_come(ledger, commit, examples, elsewhere.scored(ledger.config))
    return verdict, after, outlook


def rows_to_ask(ledger: Ledger, tested: Tested) -> int:
    """Return of how many rows of a reserve a label would still count; as in ``examine_reserve``."""
    return len(rows_wanted(ledger, tested.commit, tested.scored(ledger.config)))


def worst_answer(new: Any, old: Any, others: Sequence[Any], ledger: Ledger) -> Any:
    """Return the answer of a row that nobody knows: the one that says least for the new model.

    What the old model says (None: there is none), if that is something else; else an answer that
    neither gave, one of ``others`` where these are classes. So leaving a row open proves nothing.
    """
    if old not in (None, new):
        return old
    if ledger.config.metric is Metric.ABSOLUTE_ERROR:
        return float(new) + ledger.config.scale
    return next((other for other in others if other != new), "")


def rows_needed(config: Config, steps: int, told: float = 0.0) -> int | None:
    """Return how many test rows always settle ``steps`` tests, whatever the models predict.

    None where that depends on the data (the metric f1). Of groups: if these are as large as
    ``config.groups`` says.
    """
    longer = replace(config, steps=steps)
    return rows_that_settle(longer, shared=True, extra=told + own_nats(longer))


def rows_that_always_tell(ledger: Ledger) -> int | None:
    """Return how many test rows would always settle the steps of a ledger; None as above."""
    told = ledger.spent.nats - own_nats(ledger.config)
    return rows_needed(ledger.config, ledger.config.steps, told)


def rows_that_show_gains(ledger: Ledger) -> int | None:
    """Return how many test rows let nearly all clear gains pass the steps of a ledger.

    A clear gain is of three tolerances, by a model that changes a tenth of the predictions. None
    where the number depends on the data (the metric f1).
    """
    return rows_that_show(ledger.config, _USUALLY_CHANGED, ledger.spent.nats)


def promise(config: Config) -> str:
    """Return what a gate promises, in a sentence."""
    models = f"none of the {config.steps:,} models that can be tested goes live"
    if config.steps == 1:
        models = "the one model that can be tested does not go live"
    return (
        f"With a probability of {100 * config.reliability:.15g} % or more, {models} although "
        f"'{config.condition}' does not hold.{_of_measure(config)}"
        f"{_if_uncompared(config, _MAY_BE_WORSE)}"
    )


def _of_measure(config: Config) -> str:
    """Return what n and o are where they are no shares of right answers."""
    if config.metric == Metric.SCORE:
        return " n and o are means of F1 by row, and d is the share of rows of which it differs."
    if config.metric == Metric.BRIER:
        return f" n and o are mean squared errors of the chance of '{config.positive}'."
    if config.metric != Metric.ABSOLUTE_ERROR:
        return ""
    return f" n and o are mean errors; one larger than {config.scale:,.6g} counts as that."


def check_direction(config: Config) -> None:
    """Raise ``InvalidInput`` where a clause asks for a new model that is worse.

    Of errors less is better, so that ``n - o > -0.1`` holds of each model that errs more.
    """
    what, better, worse = _BETTER[config.metric in _ERRORS]
    weights = []
    for clause in map(methodcaller("upward"), clauses(config.condition)):
        # A gap between groups closes by a model that is better in one, or worse in the other.
        weights.append(worse * sum(map(attrgetter("n"), clause.parts)))
    if max(weights) <= 0:
        return
    raise InvalidInput(
        f"'{config.condition}' asks for a new model that is worse. n and o are {what} is better.",
        where="condition",
        remedy=f"Turn it, as in {better} > 0.1 +/- 0.05.",
    )


def check_can_buy(config: Config, target: str) -> None:
    """Raise ``InvalidInput`` where labels cannot be bought for a condition.

    A row whose label nobody knows counts against the new model. Where groups are compared, no
    answer does that in each of them. Which rows have a value of ``target`` is known of labelled
    rows alone.
    """
    if any(group.column == target for group in groups_of(config.condition)):
        raise InvalidInput(
            f"No labels can be bought for a condition on rows of one '{target}': which these are, "
            "only their labels would tell.",
            where="labels",
            remedy="Set the gate without labels: it tests on the labelled test rows.",
        )
    if config.metric == Metric.BRIER:
        raise InvalidInput(
            "No labels can be bought for a condition on chances.",
            where="labels",
            remedy="Set the gate without labels: it tests on the labelled test rows.",
        )
    if any(map(attrgetter("others"), clauses(config.condition))):
        raise InvalidInput(
            "No labels can be bought for a condition that compares groups.",
            where="labels",
            remedy="Set the gate without labels: it tests on the labelled test rows.",
        )


def _if_uncompared(config: Config, text: str) -> str:
    """Return ``text`` where a condition says nothing of the quality of the model that serves."""
    compares = uses_old(config.condition)
    return "" if compares else f" {text}"


def told_of(ledger: Ledger) -> float:
    """Return what the answers of a gate may have told of its rows, in nats."""
    return len(ledger.history) * math.log(_ANSWERS)


def explained(verdict: Verdict, ledger: Ledger, needed: int | None) -> str:
    """Return why a model may serve or not, and what would change that.

    ``ledger``: after the test. ``needed``: test rows that would always settle its tests.
    """
    condition = f"'{verdict.condition}'"
    rows = f"{ledger.examples:,} test rows"
    if verdict.answer == EXHAUSTED:
        return worn_out(ledger)
    spent = f"{len(ledger.history):,} of {ledger.config.steps:,} steps are spent."
    if verdict.answer == PASS:
        aside = _if_uncompared(ledger.config, _NOT_COMPARED)
        return f"{condition} is proven on {rows}; {spent}{aside}"
    no_worse = "That does not say that the model is worse."
    if verdict.answer == FAIL:
        return (
            f"Not proven: {condition} does not hold on {rows}, or by less than twice its "
            f"tolerance. {no_worse} A larger gain would pass. {spent}"
        )
    more = "More test rows would tell."
    if needed is not None and needed > ledger.examples:
        more = f"{needed:,} rows would always tell; fewer do where few predictions change."
        if ledger.config.names_groups:
            more = f"About {needed:,} rows would tell, if as many of them are in each group."
    return f"Not proven: {rows} cannot tell whether {condition} holds. {no_worse} {more} {spent}"


def worn_out(ledger: Ledger) -> str:
    """Return that no model can be tested any more, and what to do."""
    return (
        f"Not tested: the {ledger.examples:,} test rows are worn out by {len(ledger.history):,} "
        "answers. If they are test rows still, retire them: models learn from them then, and are "
        "tested on other rows. Where there are none, feed new labelled rows, and set the gate "
        "again."
    )


def waits(condition: str, outlook: Outlook, budget: int) -> str:
    """Return that a model waits for labels, and for how many; ``budget``: that may still be bought."""
    most = min(outlook.most, budget)
    return (
        f"The test rows cannot tell whether '{condition}' holds. It needs "
        f"{labels_told(outlook.about, outlook.low, outlook.high, most)}. The queue of work asks for "
        "them, and the test goes on with each answer."
    )


def labels_told(about: int | None, low: int, high: int, most: int) -> str:
    """Return how many more labels a test needs; see ``Outlook``."""
    if about is None:
        return f"at most {most:,} more labels"
    low, high = min(low, most), min(high, most)
    usual = f"{low:,} to {high:,}" if low < high else f"about {high:,}"
    return f"{usual} more labels as a rule, at most {most:,}"


def explained_by_labels(verdict: Verdict, ledger: Ledger, bought: int, left: int, rows: int) -> str:
    """Return why a model may serve or not, by the ``bought`` labels of a reserve.

    ``left``: labels that might still be bought; where some are wanted, they would prove nothing.
    ``rows``: whose label would count.
    """
    if verdict.labels_wanted:
        return _not_settled(verdict, bought, left, rows)
    condition = f"'{verdict.condition}'"
    if verdict.answer == EXHAUSTED:
        return (
            f"Not tested: {ledger.examples:,} rows without labels are worn out. Feed more rows "
            "without labels, and set the gate again."
        )
    spent = f"{len(ledger.history):,} of {ledger.config.steps:,} steps are spent."
    if verdict.answer == PASS:
        aside = _if_uncompared(ledger.config, _NOT_COMPARED)
        return f"{condition} is proven by {bought:,} labels that were bought; {spent}{aside}"
    no_worse = "That does not say that the model is worse."
    if verdict.answer == FAIL:
        return (
            f"Not proven: by {bought:,} labels that were bought, {condition} does not hold, or by "
            f"less than twice its tolerance. {no_worse} A larger gain would pass. {spent}"
        )
    return (
        f"Not proven: {bought:,} labels were bought, and no row is left whose label would tell "
        f"whether {condition} holds. {no_worse} More rows without labels would tell. {spent}"
    )


def _not_settled(verdict: Verdict, bought: int, left: int, rows: int) -> str:
    """Return why no more labels are asked for; as in ``explained_by_labels``."""
    condition = f"'{verdict.condition}'"
    if left == 0:
        return (
            f"Not proven: {bought:,} labels, the whole budget, cannot tell whether {condition} "
            "holds. The test goes on where it ended if the gate may buy more labels."
        )
    if left < rows:
        return (
            f"Not proven: after {bought:,} labels, the {left:,} that may still be bought could not "
            f"prove that {condition} holds, whatever they said. None is asked for. The test goes on "
            "where it ended if the gate may buy more."
        )
    return (
        f"Not proven: after {bought:,} labels, those of the {rows:,} rows that are left could not "
        f"prove that {condition} holds, whatever they said. None is asked for, and a larger budget "
        "would not help: feed more rows without labels, and set the gate again."
    )


def own_nats(config: Config) -> float:
    """Return the evidence that the application's own use of the answers takes.

    Where models do not follow the answers (adaptivity none), the new model of step h is the same
    whatever was answered, but the old one is any of the h that may serve by then. So H steps are a
    union over H (H + 1) / 2 pairs, and not over H. Under full adaptivity all histories are counted
    anyway; up to the first change the old model is one.
    """
    if config.adaptivity is not Adaptivity.NONE:
        return 0.0
    return math.log((config.steps + 1) / 2)
