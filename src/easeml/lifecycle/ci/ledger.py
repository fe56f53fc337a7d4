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
from easeml.lifecycle.ci.config import Adaptivity, Config, Mode, read_config
from easeml.lifecycle.ci.examples import Examples
from easeml.lifecycle.ci.levels import step_nats
from easeml.lifecycle.ci.planning import rows_that_settle
from easeml.lifecycle.ci.verdict import EXHAUSTED, FAIL, PASS, UNKNOWN, Verdict
from easeml.lifecycle.result import Result
from easeml.lifecycle.test_sets import digest, packed, unpacked

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

_VERSION = 2
ABANDONED, UNDECIDED = "abandoned", "undecided"


@dataclass(frozen=True)
class Step:
    """One commit: its answer, its labels, and the rows it looked at, from ``start`` on.

    The answer may also be abandoned (another commit came before it was settled) or undecided (all
    that could help was labelled, and it stayed open).
    """

    commit: str
    answer: str
    labels: int
    start: int
    rows: int


@dataclass(frozen=True)
class Spent:
    """What other uses of the same examples have given away.

    ``rows``: so many of the first examples, in the order of ``seed``, have shown more than an
    answer (estimates, or which labels were asked for), and are not used again. ``nats``: ln of the
    number of histories that answers about all examples can have had; models may depend on them, so
    each step needs as much more evidence. ``seed`` gives the order; None: that of the configuration.
    """

    rows: int = 0
    nats: float = 0.0
    seed: int | None = None

    def and_also(self, other: Spent) -> Spent:
        """Return what both uses have given away together."""
        seed = other.seed if self.seed is None else self.seed
        return Spent(max(self.rows, other.rows), self.nats + other.nats, seed)


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
        return self.history[-1] if self.history and self.history[-1].answer == UNKNOWN else None

    @property
    def steps_left(self) -> int:
        """How many more commits can be tested."""
        first_change = self.config.adaptivity is Adaptivity.FIRST_CHANGE
        if first_change and any(step.answer not in (FAIL, UNKNOWN) for step in self.history):
            return 0  # only "failed every time" may go on
        if self._next_start() >= self.examples:
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
        waiting = " The last commit waits for labels." if self.open_step else ""
        return f"{len(self.history):,} of {self.config.steps:,} steps are spent, {self.steps_left:,} left.{waiting}"

    @property
    def released(self) -> np.ndarray:
        """Examples (0-based) that no later step will use: they may serve for validation, labels and
        all.
        """
        if self.is_exhausted:
            return np.arange(self.examples)
        return np.sort(self.order()[: 0 if self.shared else self._next_start()])

    def labelled_first(self) -> np.ndarray:
        """Tell for each example (N,) whether it was labelled when the ledger was opened."""
        return unpacked(self.known_first, self.examples)

    def order(self) -> np.ndarray:
        """Return the examples (0-based) in the random order in which steps take them."""
        return np.random.default_rng(self.seed).permutation(self.examples)

    def given_away(self) -> Spent:
        """Return what this ledger's steps mean to others who use the same examples.

        Where findings are shown, whoever saw them may know the rows that were looked at. Where only
        answers are, they are counted: pass, fail or unknown, and, where labels were asked for, after
        how many requests.
        """
        if self._may_show():
            looked_at = max((step.start + step.rows for step in self.history), default=0)
            return Spent(rows=looked_at, seed=self.seed)
        asked = not bool(self.labelled_first().all())
        requests = math.ceil(self.examples / self.config.batch) + 1 if asked else 1
        return Spent(nats=len(self.history) * math.log(3 * requests), seed=self.seed)

    def beside(self, spent: Spent) -> Ledger:
        """Return the ledger with what others have given away of its examples by now.

        Raises:
            InvalidInput: if the others take the examples in another order.
        """
        if spent.seed is not None and spent.seed != self.seed:
            raise InvalidInput(
                "Two ledgers of one test set have different orders.",
                where="seed",
                remedy="Open the second one beside the first, or bring a new test set.",
            )
        left = self.examples - spent.rows
        known = self.labelled_first()
        answers = _answers(self.config, known, left, spent.nats)
        return replace(self, spent=spent, answers=max(self.answers, answers))

    def test(self, commit: str, examples: Examples) -> tuple[Verdict, Ledger]:
        """Test a commit; returns the verdict and the ledger after it.

        ``commit`` names the pair of models (see ``commit_digest``). A commit that has its answer
        gets it again and spends nothing; one that waited for labels goes on. Beyond the last step
        the answer is "exhausted".

        Raises:
            InvalidInput: if the number of examples is not that of the ledger, labels that were there when it was
                opened are missing now, or, with firstChange, another commit waits for labels.
        """
        self._check(examples)
        for place, step in enumerate(self.history):
            if step.commit == commit and step is not self.open_step and step.answer != ABANDONED:
                return self._verdict(step, place, repeated=True), self
        if self.open_step is None or self.open_step.commit != commit:
            if self.steps_left == 0:
                return self._refusal(commit), self
            if self.open_step and self.config.adaptivity is Adaptivity.FIRST_CHANGE:
                raise InvalidInput(
                    "Another commit waits for labels.",
                    where=self.open_step.commit,
                    remedy="Settle it first: with firstChange, another commit may follow a failed one only.",
                )
            start = self._next_start()
            opened = self._with_abandoned()
            place = len(opened.history)
        else:
            opened, place, start = self, len(self.history) - 1, self.open_step.start
        rows = self.order()[start:]
        nats = step_nats(self.config, shared=self.shared, answers=self.answers) + self.spent.nats
        trial = try_commit(self.config, examples.take(rows), nats, shared=self.shared)
        answer, by_mode = self._answer(trial)
        last = int(trial.wanted[-1]) + 1 if len(trial.wanted) else 0
        if answer == UNKNOWN and not last:
            answer = UNDECIDED
        step = Step(commit, answer, trial.labels, start, max(trial.rows, last))
        after = replace(opened, history=(*opened.history[:place], step))
        verdict = after._verdict(step, place, by_mode=by_mode)
        wanted = tuple(int(row) for row in rows[trial.wanted]) if answer == UNKNOWN else ()
        findings = trial.findings if self._may_show() else None
        return replace(verdict, findings=findings, labels_wanted=wanted), after

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
            "version": _VERSION,
            **document,
            "config": self.config.to_json(),
            "spent": vars(self.spent),
            "steps_left": self.steps_left,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Ledger:
        """Return the ledger that ``to_json`` wrote.

        Raises:
            InvalidInput: if the document is none, or of a later version.
        """
        try:
            document = _upgraded(document)
            return cls(
                config=read_config(
                    {key: value for key, value in document["config"].items() if value is not None}
                ),
                examples=int(document["examples"]),
                test_set=str(document["test_set"]),
                known_first=str(document["known_first"]),
                shared=bool(document["shared"]),
                answers=int(document["answers"]),
                history=tuple(Step(**step) for step in document["history"]),
                retired=tuple(document["retired"]),
                seed=int(document["seed"]),
                spent=Spent(**document["spent"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, InvalidInput):
                raise
            raise InvalidInput(
                f"This is no ledger of a test set ({error}).", where="ledger"
            ) from error

    def _answer(self, trial: Trial) -> tuple[str, bool]:
        if trial.truth is not None:
            return (PASS if trial.truth else FAIL), False
        if self.config.adaptivity is Adaptivity.FULL and self.shared and self.answers == 2:
            return (FAIL if self.config.mode is Mode.FP_FREE else PASS), True
        return UNKNOWN, False

    def _may_show(self) -> bool:
        return self.config.adaptivity is Adaptivity.NONE or not self.shared

    def _next_start(self) -> int:
        """Return the first example, in the order, that the next step may use."""
        if self.shared or not self.history:
            return self.spent.rows
        return max(self.spent.rows, self.history[-1].start + self.history[-1].rows)

    def _with_abandoned(self) -> Ledger:
        """Return the ledger with a step that waited for labels closed: another commit has come."""
        if self.open_step is None:
            return self
        return replace(
            self, history=(*self.history[:-1], replace(self.open_step, answer=ABANDONED))
        )

    def _check(self, examples: Examples) -> None:
        if len(examples) != self.examples:
            raise InvalidInput(
                f"There are {len(examples):,} examples, and the ledger is of {self.examples:,}.",
                remedy="Test on the examples that the ledger was opened with, or open a new ledger for a new test set.",
            )
        if (self.labelled_first() & ~examples.known).any():
            raise InvalidInput(
                "Labels that were there when the ledger was opened are missing now.", where="labels"
            )

    def _refusal(self, commit: str) -> Verdict:
        step = Step(commit, EXHAUSTED, 0, 0, 0)
        return self._verdict(step, len(self.history) - 1)

    def _verdict(
        self, step: Step, place: int, *, repeated: bool = False, by_mode: bool = False
    ) -> Verdict:
        reasons = ["This commit was tested before; no step was spent."] if repeated else []
        if by_mode:
            reasons.append(f"The examples left it open, and {self.config.mode.value} decided.")
        if self.spent.rows or self.spent.nats:
            reasons.append(self._sharing())
        return Verdict(
            commit=step.commit,
            condition=str(self.config.condition),
            answer=UNKNOWN if step.answer == UNDECIDED else step.answer,
            step=place + 1,
            steps=self.config.steps,
            steps_left=self.steps_left,
            labels_used=step.labels if self._may_show() else None,
            labels_wanted=(),
            rows_used=step.rows if self._may_show() else None,
            findings=None,
            new_test_set_due=self.is_exhausted,
            repeated=repeated,
            by_mode=by_mode,
            reason=" ".join(reasons),
        )

    def _sharing(self) -> str:
        """Return a sentence about others that use the same examples."""
        effects = []
        if self.spent.rows:
            effects.append(f"{self.spent.rows:,} of the examples are spent")
        if self.spent.nats:
            effects.append("what they answered counts here as well")
        return f"These examples have other uses, which share one budget: {' and '.join(effects)}."


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

    Raises: InvalidInput: if there are no examples, the condition holds always or never, or the test
        set is retired.
    """
    known = np.asarray(known, dtype=bool)
    if known.ndim != 1 or not known.size:
        raise InvalidInput("A test set needs at least one example.", where="labels")
    if _is_retired(test_set, retired):
        raise InvalidInput(
            "This test set is used up.",
            where="labels",
            remedy="Bring examples that no commit was tested on.",
        )
    spent = spent or Spent()
    return Ledger(
        config=config,
        examples=known.size,
        test_set=test_set,
        known_first=packed(known),
        shared=bool(known.all()) or config.adaptivity is not Adaptivity.FULL,
        answers=_answers(config, known, known.size - spent.rows, spent.nats),
        retired=tuple(retired),
        seed=config.seed if spent.seed is None else spent.seed,
        spent=spent,
    )


def _answers(config: Config, known: np.ndarray, rows: int, nats: float) -> int:
    """Return how many answers a developer can see: 2 where ``rows`` examples always settle a step.

    Where they do not, a step may also stay open. Developers who see no answers, or only the one
    that ends the series, make no histories of them.
    """
    if config.adaptivity is not Adaptivity.FULL:
        return 2
    needed = rows_that_settle(config, shared=True, extra=nats)
    settled = bool(known.all()) and needed is not None and needed <= rows
    return 2 if settled else 3


def commit_digest(new: Sequence[Any], old: Sequence[Any] | None) -> str:
    """Return a name of a pair of models: a digest of their predictions, in the order of the test
    set.
    """
    return digest(new) if old is None else digest([digest(new), digest(old)])


def test_set_digest(labels: Sequence[Any], ids: Sequence[Any] | None = None) -> str:
    """Return a name of a test set: digests of the examples' ids where they have some, and of the
    labels that exist.

    Empty where there is neither: such a test set cannot be told from another.
    """
    known = [None if value is None or value != value else value for value in labels]  # noqa: PLR0124
    if ids is None and all(value is None for value in known):
        return ""
    return f"{'' if ids is None else digest(ids)}-{digest(known)}"


def _is_retired(test_set: str, retired: Sequence[str]) -> bool:
    """Tell whether a test set is among the retired: the same ids, whatever was labelled since, or
    the same labels.
    """
    ids = test_set.partition("-")[0]
    return any(test_set == old or (ids and ids == old.partition("-")[0]) for old in retired if old)


def _upgraded(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a ledger's document as this version writes it.

    Raises:
        InvalidInput: if it is of another version, or of the first with a part of the labels: that
            version took what was labelled first, so whoever labelled chose what a step saw.
    """
    if document["version"] == _VERSION:
        return document
    if document["version"] != 1:
        raise InvalidInput(f"The ledger is of version {document['version']}, not {_VERSION}.")
    known = unpacked(document["known_first"], int(document["examples"]))
    if known.any() and not known.all():
        raise InvalidInput(
            "The ledger is of a version that began with the labelled examples, which proves nothing.",
            where="ledger",
            remedy="Bring a new test set with --new-test-set.",
        )
    return {**document, "seed": document["config"].get("seed") or 0, "spent": {}}
