"""The ledger of a test set: what was asked of it, what is left, and when a new one is due.

A value: ``test`` returns a verdict and the ledger after it, and nothing is kept elsewhere, so that
a file or a database can hold it. It refuses what would break the guarantee: steps beyond the plan,
another configuration, other examples.

Steps walk the examples in a random order that does not depend on what is labelled: labels that
exist already are free, but nobody can choose, by choosing what to label, what a step sees first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.ci.commit import Trial, try_commit
from easeml.lifecycle.ci.config import Adaptivity, Config, Mode
from easeml.lifecycle.ci.examples import Examples
from easeml.lifecycle.ci.ledger_document import VERSION, ledger_fields
from easeml.lifecycle.ci.levels import step_nats
from easeml.lifecycle.ci.planning import answers_seen
from easeml.lifecycle.ci.steps import ABANDONED, UNDECIDED, Spent, Step
from easeml.lifecycle.ci.test_set_names import is_retired
from easeml.lifecycle.ci.verdict import EXHAUSTED, FAIL, PASS, UNKNOWN, Verdict
from easeml.lifecycle.result import Result
from easeml.lifecycle.test_sets import packed, unpacked

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure


_ANSWERS = {True: PASS, False: FAIL}
_ANSWERS_OF_MODES = {Mode.FP_FREE: FAIL, Mode.FN_FREE: PASS}
"""What an open commit gets where developers may learn no more than two answers."""


@dataclass(frozen=True)
class Ledger(Result):
    """The record of one test set under one configuration.

    ``shared``: every step may use all examples; else each takes fresh ones. Either way they are
    taken in a random order, that of ``seed``. ``answers`` is how many different answers a developer
    can see at a step on shared examples. ``known_first`` marks the examples that were labelled when
    the ledger was opened (packed bits). ``spent`` is what others have done with the examples.
    """

    config: Config
    examples: int
    test_set: str
    known_first: str
    shared: bool
    answers: int
    history: tuple[Step, ...] = ()
    retired: tuple[str, ...] = field(default=())
    seed: int = 0
    spent: Spent = field(default=Spent())

    @property
    def open_step(self) -> Step | None:
        """The step that waits for labels, if there is one."""
        if not self.history:
            return None
        last = self.history[-1]
        return last if last.answer == UNKNOWN else None

    @property
    def steps_left(self) -> int:
        """How many more commits can be tested."""
        unseen = self.examples - self._next_start()
        if unseen <= 0 or self._ended_by_an_answer():
            return 0
        return max(0, self.config.steps - len(self.history))

    @property
    def is_exhausted(self) -> bool:
        """Whether a new test set is due before the next commit."""
        return self.steps_left == 0 and self.open_step is None

    @property
    def advice(self) -> str:
        if self.is_exhausted:
            return (
                "The test set is used up. Bring a new one; this one may now be used for validation."
            )
        spent = f"{len(self.history):,} of {self.config.steps:,} steps are spent"
        sentences = [f"{spent}, {self.steps_left:,} left."]
        if self.open_step:
            sentences.append("The last commit waits for labels.")
        return " ".join(sentences)

    @property
    def released(self) -> np.ndarray:
        """Examples (0-based) that no later step will use.

        They may serve for validation, with their labels.
        """
        if self.is_exhausted:
            return np.arange(self.examples)
        # Shared examples serve every step until the last.
        finished = 0 if self.shared else self._next_start()
        return np.sort(self.order()[:finished])

    def labelled_first(self) -> np.ndarray:
        """Tell for each example (N,) whether it was labelled when the ledger was opened."""
        return unpacked(self.known_first, self.examples)

    def order(self) -> np.ndarray:
        """Return the examples (0-based) in the random order in which steps take them."""
        return np.random.default_rng(self.seed).permutation(self.examples)

    def given_away(self) -> Spent:
        """Return what this ledger's steps mean to others who use the same examples.

        Where findings are shown, whoever saw them may know the rows that were looked at. Where only
        answers are, they are counted: pass, fail or unknown, and, where labels were asked for,
        after how many requests.
        """
        if self._may_show():
            looked_at = max((step.end for step in self.history), default=0)
            return Spent(rows=looked_at, seed=self.seed)
        # When a verdict came tells something, too: the number of batches that were asked for.
        requests = 1
        if not self.labelled_first().all():
            requests += math.ceil(self.examples / self.config.batch)
        return Spent(nats=len(self.history) * math.log(3 * requests), seed=self.seed)

    def beside(self, spent: Spent) -> Ledger:
        """Return the ledger with what others have given away of its examples by now.

        Raises:
            InvalidInput: if the others take the examples in another order.
        """
        if spent.seed not in (None, self.seed):
            raise InvalidInput(
                "Two ledgers of one test set have different orders.",
                where="seed",
                remedy="Open the second one beside the first, or bring a new test set.",
            )
        # With fewer examples left, or more evidence to find, a step may stay open that would not
        # have before; what developers could see already is not taken back.
        left = self.examples - spent.rows
        answers = answers_seen(self.config, self.labelled_first(), left, spent.nats)
        return replace(self, spent=spent, answers=max(self.answers, answers))

    def test(self, commit: str, examples: Examples) -> tuple[Verdict, Ledger]:
        """Test a commit; return the verdict and the ledger after it.

        ``commit`` names the pair of models (see ``commit_digest``). A commit that has its answer
        gets it again and spends nothing; one that waited for labels goes on. Beyond the last step
        the answer is "exhausted".

        Raises:
            InvalidInput: if the number of examples is not that of the ledger, labels that were
                there when it was opened are missing now, or, with firstChange, another commit
                waits for labels.
        """
        self._check(examples)
        answered = self._place_of_answer(commit)
        if answered is not None:
            return self._verdict(self.history[answered], answered, repeated=True), self
        waiting = self.open_step
        if waiting is not None and waiting.commit == commit:
            # It goes on where it began: its labels were asked for in that order.
            return self._tried(commit, examples, before=self.history[:-1], went_on=waiting)
        if self.steps_left == 0:
            return self._refusal(commit), self
        if waiting is not None and self.config.adaptivity is Adaptivity.FIRST_CHANGE:
            # An open step may still pass, and after a pass there is no next commit.
            raise InvalidInput(
                "Another commit waits for labels.",
                where=waiting.commit,
                remedy="Settle it first: with firstChange, another commit may follow "
                "a failed one only.",
            )
        return self._tried(commit, examples, before=self._closed())

    def to_frame(self) -> pd.DataFrame:
        """Return one row a step."""
        import pandas as pd

        rows = [{"step": place + 1, **vars(step)} for place, step in enumerate(self.history)]
        return pd.DataFrame(rows, columns=["step", "commit", "answer", "labels", "start", "rows"])

    def figure(self) -> Figure:
        """Return the labels of each step, coloured by answer."""
        from easeml.figures import ci

        return ci.ledger(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values, from which ``Ledger.from_json`` makes an equal ledger."""
        document = super().to_json()
        return {
            "version": VERSION,
            **document,
            "config": self.config.to_json(),
            "steps_left": self.steps_left,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Ledger:
        """Return the ledger that ``to_json`` wrote.

        Raises:
            InvalidInput: if the document is none, or of a later version.
        """
        return cls(**ledger_fields(document))

    def _tried(
        self,
        commit: str,
        examples: Examples,
        *,
        before: tuple[Step, ...],
        went_on: Step | None = None,
    ) -> tuple[Verdict, Ledger]:
        """Try a commit as the step that follows ``before``; ``went_on``: the one that waited."""
        start = went_on.start if went_on else self._next_start()
        rows = self.order()[start:]
        nats = step_nats(self.config, shared=self.shared, answers=self.answers) + self.spent.nats
        trial = try_commit(self.config, examples.take(rows), nats, shared=self.shared)
        answer = self._answer(trial)
        # Rows whose labels are asked for are looked at as well.
        looked_at = max([trial.rows, *(trial.wanted + 1).tolist()])
        if went_on:
            # Labels that were asked for and not needed are known, so a model may be made of them.
            looked_at = max(looked_at, went_on.rows)
        step = Step(
            commit=commit,
            answer=answer,
            labels=trial.labels,
            start=start,
            rows=looked_at,
        )
        after = replace(self, history=(*before, step))
        by_mode = trial.truth is None and self._mode_decides()
        verdict = after._verdict(step, len(before), by_mode=by_mode)
        if answer == UNKNOWN:
            wanted = tuple(rows[trial.wanted].tolist())
            verdict = replace(verdict, labels_wanted=wanted)
        if self._may_show():
            verdict = replace(verdict, findings=trial.findings)
        return verdict, after

    def _answer(self, trial: Trial) -> str:
        if trial.truth is not None:
            return _ANSWERS[trial.truth]
        if self._mode_decides():
            return _ANSWERS_OF_MODES[self.config.mode]
        # Nothing is asked for where the rows themselves have run out.
        return UNKNOWN if len(trial.wanted) else UNDECIDED

    def _mode_decides(self) -> bool:
        """Tell whether the mode answers for a commit that the examples leave open."""
        # Where only two answers were counted, "unknown" would be a third history to guard against.
        adapted_to = self.config.adaptivity is Adaptivity.FULL and self.shared
        return adapted_to and self.answers == 2

    def _place_of_answer(self, commit: str) -> int | None:
        """Return the place of the step that has answered a commit, if there is one."""
        for place, step in enumerate(self.history):
            if step.commit != commit:
                continue
            if step.answer not in (UNKNOWN, ABANDONED):
                return place
        return None

    def _ended_by_an_answer(self) -> bool:
        """Tell whether no commit may follow: with firstChange, only "failed every time" goes on."""
        if self.config.adaptivity is not Adaptivity.FIRST_CHANGE:
            return False
        answers = {step.answer for step in self.history}
        return not answers <= {FAIL, UNKNOWN}

    def _may_show(self) -> bool:
        """Tell whether more than the answer may be shown without wearing out the test set."""
        # Nobody adapts to what is not seen, and fresh examples are not met again.
        return self.config.adaptivity is Adaptivity.NONE or not self.shared

    def _next_start(self) -> int:
        """Return the first example, in the order, that the next step may use."""
        if self.shared or not self.history:
            return self.spent.rows
        # Fresh examples follow those of the last step, whatever it was answered.
        return max(self.spent.rows, self.history[-1].end)

    def _closed(self) -> tuple[Step, ...]:
        """Return the history; a step that waited for labels is closed, as another commit came."""
        waiting = self.open_step
        if waiting is None:
            return self.history
        return (*self.history[:-1], replace(waiting, answer=ABANDONED))

    def _check(self, examples: Examples) -> None:
        if len(examples) != self.examples:
            raise InvalidInput(
                f"There are {len(examples):,} examples, and the ledger is of {self.examples:,}.",
                remedy="Test on the examples that the ledger was opened with, "
                "or open a new ledger for a new test set.",
            )
        # The levels count on these labels: whoever removes one chooses what a step sees.
        lost = self.labelled_first() & ~examples.known
        if lost.any():
            raise InvalidInput(
                "Labels that were there when the ledger was opened are missing now.", where="labels"
            )

    def _refusal(self, commit: str) -> Verdict:
        # No step was spent, so the place stays that of the last one.
        step = Step(
            commit=commit,
            answer=EXHAUSTED,
            labels=0,
            start=0,
            rows=0,
        )
        return self._verdict(step, len(self.history) - 1)

    def _verdict(
        self, step: Step, place: int, *, repeated: bool = False, by_mode: bool = False
    ) -> Verdict:
        verdict = Verdict(
            commit=step.commit,
            condition=str(self.config.condition),
            answer=UNKNOWN if step.answer == UNDECIDED else step.answer,
            step=place + 1,
            steps=self.config.steps,
            steps_left=self.steps_left,
            # What is None or empty here is filled in where it may be shown.
            labels_used=None,
            labels_wanted=(),
            rows_used=None,
            findings=None,
            new_test_set_due=self.is_exhausted,
            repeated=repeated,
            by_mode=by_mode,
            reason=self._reason(repeated=repeated, by_mode=by_mode),
        )
        if self._may_show():
            verdict = replace(verdict, labels_used=step.labels, rows_used=step.rows)
        return verdict

    def _reason(self, *, repeated: bool, by_mode: bool) -> str:
        """Return what else is to be known of an answer, in sentences."""
        sentences = []
        if repeated:
            sentences.append("This commit was tested before; no step was spent.")
        if by_mode:
            sentences.append(f"The examples left it open, and {self.config.mode.value} decided.")
        # Empty where the examples have no other use.
        sentences.append(self.spent.sentence())
        return " ".join(sentences).rstrip()


def open_ledger(
    config: Config,
    known: np.ndarray,
    test_set: str = "",
    retired: Sequence[str] = (),
    spent: Spent | None = None,
) -> Ledger:
    """Open the ledger of a test set of which the examples marked in ``known`` (N,) are labelled.

    ``test_set`` names it (see ``test_set_digest``); it must not be one of the ``retired``. Where
    developers see every verdict, a wholly labelled test set is shared by the steps, at delta /
    answers^H each; else each step takes fresh examples, at delta / H. ``spent`` is what other uses
    of the same examples have given away (``Ledger.given_away``).

    Raises:
        InvalidInput: if there are no examples, the condition holds always or never, or the test set
            is retired.
    """
    known = np.asarray(known, dtype=bool)
    if known.ndim != 1 or not known.size:
        raise InvalidInput("A test set needs at least one example.", where="labels")
    if is_retired(test_set, retired):
        raise InvalidInput(
            "This test set is used up.",
            where="labels",
            remedy="Bring examples that no commit was tested on.",
        )
    spent = spent or Spent()
    all_labelled = bool(known.all())
    return Ledger(
        config=config,
        examples=known.size,
        test_set=test_set,
        known_first=packed(known),
        shared=all_labelled or config.adaptivity is not Adaptivity.FULL,
        answers=answers_seen(config, known, known.size - spent.rows, spent.nats),
        retired=tuple(retired),
        seed=config.seed if spent.seed is None else spent.seed,
        spent=spent,
    )
