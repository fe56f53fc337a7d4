"""The operators ``gate``, ``pick`` and ``monitor``: what the lifecycle's tools say of a search.

Each fits the models of the search anew from their recipes, lets them predict rows that they have
not seen, and asks the tool of that name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from easeml.errors import InvalidInput
from easeml.lifecycle.held_out import Predicted, Unseen
from easeml.lifecycle.tool import Fact, ToolAnswer, tool_named
from easeml.lineage import Operator
from easeml.modules.pipeline import Predictions
from easeml.operators.training import Problem, problem_again
from easeml.operators.typed import Rows, rows_in
from easeml.relation import Relation

_COMMONEST = {"transforms": [{"module": "table-codes", "config": {}}]}
"""What comes before the model that always says the same."""


def gate(
    searched: Mapping[str, Any],
    relation: Relation,
    over: Mapping[str, Any] | None = None,
    condition: str = "",
    reliability: float = 0.95,
    steps: int = 5,
    mode: str = "fp-free",
    metric: str = "",
    positive: str = "1",
    scale: float | None = None,
) -> dict[str, Any]:
    """Say whether the best model of a search passes a condition on the test rows.

    The tool is ``ci``: with probability ``reliability`` none of the answers is wrong for up to
    ``steps`` different models on the same test rows. A graph does not count them; whoever changes
    it does. Test rows whose label is in doubt or unknown are left out.

    Args:
        searched: the answer of ``search``.
        relation: what it searched, with test rows.
        over: another search, whose best model is the old one; by default a model that always says
            the commonest class, or the mean.
        condition: of ``n``, ``o`` and ``d`` (the language of ``easeml ci``); by default that the
            new model is better, to within .05. Of ``absolute-error``, n and o are errors.
        reliability: chance that no answer is wrong.
        steps: models that will be tested on these rows.
        mode: fp-free (in doubt a model fails) or fn-free (it passes).
        metric: accuracy, f1 or absolute-error; by default what fits the target.
        positive: the class of f1.
        scale: of absolute-error, the largest error that counts; by default the train answers' range.

    Returns: JSON values: ``verdict`` (pass, fail, ...), ``advice``, the tool's numbers by name.

    Raises:
        InvalidInput: where there are no test rows with a certain label.
    """
    problem = problem_again(relation, searched)
    test = rows_in(relation, problem.schemas, "test").known
    if not len(test):
        raise InvalidInput(
            "No test row has a certain label.", remedy="Use split() with a test share."
        )
    said = {
        "new": _unseen(_said(problem, _best(searched), test)),
        "old": _unseen(_old(problem, relation, over, test)),
    }
    numbers = said["new"].classes is None
    metric = metric or ("absolute-error" if numbers else "accuracy")
    better = "o - n" if metric == "absolute-error" else "n - o"
    parameters = {
        "condition": condition or f"{better} > 0.0 +/- 0.05",
        "reliability": reliability,
        "steps": steps,
        "mode": mode,
        "metric": metric,
        "positive": positive,
        "scale": scale or (_range(problem.train) if numbers else 1.0),
    }
    answers = test.answers if numbers else test.answers.astype(str)
    facts: dict[Fact, Any] = {"test": Predicted(test.inputs, answers, said), "elsewhere": 0.0}
    answer = tool_named("ci").answer(facts, parameters)
    return _told(answer, {"model": searched["model"], "rows": len(test)})


def pick(
    searched: Mapping[str, Any],
    relation: Relation,
    role: str = "production",
    batch: int = 10,
    tolerance: float = 0.0,
    confidence: float = 0.95,
    seed: int = 0,
) -> dict[str, Any]:
    """Choose the best of a search's models on newer rows, with few of their labels.

    The tool is ``pick``. ``role``: of the newer rows; those of their labels that are certain are
    used where they were asked for. ``row_ids`` of the answer are the rows to label next.
    """
    problem = problem_again(relation, searched)
    newer = rows_in(relation, problem.schemas, role)
    by = {}
    for number, one in enumerate(searched["models"]):
        by[f"{number + 1}: {one['name']}"] = _unseen(_said(problem, one["pipeline"], newer))
    facts: dict[Fact, Any] = {"newer": Predicted(newer.inputs, newer.answers, by)}
    parameters = {"batch": batch, "tolerance": tolerance, "confidence": confidence, "seed": seed}
    answer = tool_named("pick").answer(facts, parameters)
    places = []
    for table in answer.tables:
        if table.title == "Rows to label next":
            # The tool counts rows from 1, for people who look at a file.
            places += [int(cells[0]) - 1 for cells in table.rows]
    return _told(answer, {"row_ids": newer.row_ids[places].tolist(), "rows": len(newer)})


def monitor(
    searched: Mapping[str, Any],
    relation: Relation,
    role: str = "production",
    drop: float = 0.05,
    floor: float | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> dict[str, Any]:
    """Say whether the best model of a search is still right on newer rows.

    The tool is ``monitor``, compared with the validation rows. ``role``: of the newer rows;
    ``drop``: a fall of quality that is worth an alert, ``floor``: quality below which there is one,
    ``alpha``: chance of a false alarm of drift.
    """
    problem = problem_again(relation, searched)
    pipeline = _best(searched)
    newer = rows_in(relation, problem.schemas, role)
    known = problem.validation
    facts: dict[Fact, Any] = {
        "inputs": known.inputs,
        "answers": known.answers,
        "predictions": _unseen(_said(problem, pipeline, known)),
        "newer": Predicted(
            newer.inputs, newer.answers, {"model": _unseen(_said(problem, pipeline, newer))}
        ),
    }
    parameters = {"drop": drop, "floor": floor, "alpha": alpha, "seed": seed}
    answer = tool_named("monitor").answer(facts, parameters)
    return _told(answer, {"model": searched["model"]})


def _best(searched: Mapping[str, Any]) -> dict[str, Any]:
    return searched["models"][0]["pipeline"]


def _said(problem: Problem, pipeline: Mapping[str, Any], rows: Rows) -> Predictions:
    return problem.fitted(pipeline).predict(rows.inputs)


def _old(
    problem: Problem, relation: Relation, over: Mapping[str, Any] | None, test: Rows
) -> Predictions:
    """Return what the old model says: that of another search, or one that always says the same."""
    if over is not None:
        return _said(problem_again(relation, over), _best(over), test)
    kind = "classifier" if problem.train.answers.dtype.kind != "f" else "regressor"
    pipeline = {**_COMMONEST, "model": {"module": f"baseline-{kind}", "config": {}}}
    return _said(problem, pipeline, test)


def _unseen(said: Predictions) -> Unseen:
    return Unseen(said.values, said.probabilities, said.classes)


def _range(train: Rows) -> float:
    values = train.answers.to_numpy(dtype=float)
    return float(np.max(values) - np.min(values))


def _told(answer: ToolAnswer, more: dict[str, Any]) -> dict[str, Any]:
    """Return an answer as JSON values: what conditions can name, then intervals and notes."""
    told: dict[str, Any] = {"verdict": answer.verdict}
    intervals = {}
    for number in answer.numbers:
        told[number.name] = _plain(number.value)
        if number.low is not None:
            intervals[number.name] = [_plain(number.low), _plain(number.high)]
    return {
        **told,
        **more,
        "advice": answer.advice,
        "intervals": intervals,
        "assumes": list(answer.assumes),
        "notes": list(answer.notes),
    }


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


OPERATORS = (
    Operator("gate", "1", gate),
    Operator("pick", "1", pick),
    Operator("monitor", "1", monitor),
)
