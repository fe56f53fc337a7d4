"""The answer to a commit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from easeml.lifecycle.ci.commit import ClauseFinding
from easeml.lifecycle.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from easeml.figures import Figure

PASS, FAIL, UNKNOWN, EXHAUSTED = "pass", "fail", "unknown", "exhausted"

_ADVICE = {
    PASS: "The commit passes: the condition is proven.",
    FAIL: "The commit fails: the condition does not hold, or not by more than twice its tolerance.",
    EXHAUSTED: (
        "The test set is used up: no further commit can be answered with the promised reliability."
    ),
}


@dataclass(frozen=True)
class Verdict(Result):
    """What a team may tell about a commit.

    ``answer`` is pass, fail, unknown (labels or examples are missing) or exhausted. ``labels_used``
    labels were needed; ``labels_wanted`` are the 0-based examples to label next. ``findings``,
    ``labels_used`` and ``rows_used`` are None where showing them would wear out the test set:
    developers who adapt to verdicts on shared examples may see nothing else. ``repeated``: the
    commit had its answer before, and no step was spent. ``by_mode``: the examples left it open, and
    the mode decided.
    """

    commit: str
    condition: str
    answer: str
    step: int
    steps: int
    steps_left: int
    labels_used: int | None
    labels_wanted: tuple[int, ...]
    rows_used: int | None
    findings: tuple[ClauseFinding, ...] | None
    new_test_set_due: bool
    repeated: bool = False
    by_mode: bool = False
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Whether the commit may replace the old model."""
        return self.answer == PASS

    @property
    def advice(self) -> str:
        sentences = [self._what_was_found()]
        if self.reason:
            sentences.append(self.reason)
        sentences.append(self._what_is_left())
        return " ".join(sentences)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a clause; empty where the findings may not be shown."""
        import pandas as pd

        columns = ["clause", "truth", "estimate", "low", "high", "rows"]
        rows = list(map(vars, self.findings or ()))
        return pd.DataFrame(rows, columns=columns)

    def figure(self) -> Figure:
        """Return the interval of each clause beside its threshold."""
        from easeml.figures import ci

        return ci.verdict(self.to_json())

    def _what_was_found(self) -> str:
        if self.answer != UNKNOWN:
            return _ADVICE[self.answer]
        if not self.labels_wanted:
            return (
                "Open, and every example that could help is labelled: "
                "a larger test set is needed to tell."
            )
        wanted = len(self.labels_wanted)
        return f"Open: label the {wanted:,} examples asked for, then test the same commit again."

    def _what_is_left(self) -> str:
        if self.new_test_set_due:
            return "Bring a new test set before the next commit."
        steps = "1 step is" if self.steps_left == 1 else f"{self.steps_left:,} steps are"
        return f"{steps} left on this test set."
