"""Adapt: what serves, fitted once more to be right about recent rows that nobody has labelled."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from easeml.contract.states import AdaptWay, Lane
from easeml.contract.tasks import Spec, TaskResult, WeightedPipeline
from easeml.kinds.shared.fitting import fit_members, save_members, together
from easeml.kinds.shared.histories import history_of
from easeml.kinds.shared.inputs import version_of_job
from easeml.kinds.shared.predictions import ROLES, read_predictions, write_predictions
from easeml.kinds.shared.qualities import latency_of, qualities_of, write_evaluation
from easeml.kinds.shared.row_weights import weights_of
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from easeml.data import VersionTables
    from easeml.lifecycle.adaptation import Known, Proposal
    from easeml.modules.ensemble import TrainedEnsemble
    from easeml.modules.pipeline import TrainedPipeline
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class AdaptSpec(Spec):
    """Adapt: fit the pipelines of what serves to recent rows, one ``way``.

    ``members``: of an ensemble, or the pipeline of a single model. ``temperature`` and ``thresholds``: of an
    ensemble. ``base_id``: the model that
    serves. ``whole``: it serves as fitted on train and validation rows, and so does what is made.

    Inputs ``version``, the declared folder, ``base``, the model as it was fitted on train rows, its
    ``predictions``, and ``recent``, a CSV file (an artefact with the digest ``source``). Outputs
    as of training, and with ``whole`` as of a refit: ``refitted``, ``refitted-predictions``.
    """

    kind: Literal["adapt"] = "adapt"
    way: AdaptWay
    name: str
    members: list[WeightedPipeline]
    temperature: float = 1.0
    thresholds: list[float] | None = None
    base_id: str
    source: str
    whole: bool
    objective: str
    schema_in: dict[str, Any]
    schema_out: dict[str, Any]
    measures: list[str] = Field(default_factory=list)
    seed: int = 0


def adapt(spec: AdaptSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{applies, says}``, and where the way applies what training returns.

    Where it does not apply, no output is written. The quality is on validation rows as they are:
    recent rows have no answers, so nothing here says how right it is about them.
    """
    from easeml.data import read_version
    from easeml.lifecycle.adaptation import propose

    started = time.perf_counter()
    version = read_version(inputs / "version")
    known = _known(version, inputs)
    proposal = propose(spec.way, known, spec.seed)
    applies = proposal.applies
    says = proposal.says
    if applies and proposal.weights is not None:
        spec, left_out = _of_weights(spec)
        applies, says = bool(spec.members), " ".join([says, *left_out])
    if not applies:
        return TaskResult(ok=True, value={"applies": False, "says": says})
    print(says, flush=True)

    lessons = Lessons(version.target, known, _weights(version, proposal), proposal)
    history = history_of(version, [one.pipeline for one in spec.members])
    rows, weights = lessons.of(~known.held_out)
    trained = together(spec, fit_members(spec, rows, weights, history=history))
    found, notes = _judged(spec, version, trained, outputs)
    written = ["model", "predictions", "evaluation"]
    if spec.whole:
        _refit(spec, version, lessons, found["quality"], outputs)
        written += ["refitted", "refitted-predictions"]
    value = {**found, "applies": True, "says": says, "name": spec.name}
    value["seconds"] = time.perf_counter() - started
    return TaskResult(ok=True, value=value, outputs=written, notes=[says, *trained.notes, *notes])


@dataclass(frozen=True)
class Lessons:
    """What an adapted model learns from: labelled rows with their weights, and recent ones."""

    target: str
    known: Known
    weights: np.ndarray | None  # of the labelled rows (n,); None: each counts once
    proposal: Proposal

    def of(self, rows: np.ndarray) -> tuple[pd.DataFrame, np.ndarray | None]:
        """Return the rows of a mask of the labelled ones (n,), with what is added, and weights."""
        import pandas as pd

        inputs: Any = self.proposal.inputs
        frame = inputs[rows].assign(**{self.target: self.known.answers[rows]})
        weights = None if self.weights is None else self.weights[rows]
        if self.proposal.extra is None:
            return frame.reset_index(drop=True), weights
        answers = pd.Series(self.proposal.extra_answers).astype(self.known.answers.dtype)
        extra = self.known.recent.iloc[self.proposal.extra].reset_index(drop=True)
        extra = extra.assign(**{self.target: answers})
        if weights is not None:
            weights = np.append(weights, np.full(len(extra), weights.mean()))
        return pd.concat([frame, extra[frame.columns]], ignore_index=True), weights


def _weights(version: VersionTables, proposal: Proposal) -> np.ndarray | None:
    """Return how much each labelled row counts (n,): by its own weight, and as is proposed."""
    ids = np.concatenate([version.train["_row"], version.validation["_row"]])
    own = weights_of(version, ids)
    if own is None:
        return proposal.weights
    if proposal.weights is None:
        return own
    return own * proposal.weights


def _known(version: VersionTables, inputs: Path) -> Known:
    """Return labelled and recent rows, with what the model that serves says."""
    import pandas as pd

    from easeml.data import kinds_of, read_newer, read_table
    from easeml.lifecycle.adaptation import Known
    from easeml.modules.ensemble import load_model

    columns = list(kinds_of(version.schema_in))
    rows: Any = pd.concat([version.train, version.validation], ignore_index=True)
    held_out = np.arange(len(rows)) >= len(version.train)
    table = read_table(inputs / "recent", "production.csv")
    newer = read_newer(table, version.schema_in, version.schema_out, fills=True)
    recent: Any = newer.inputs[columns]
    ids, kept = read_predictions(inputs / "predictions", "validation")
    order = pd.Series(np.arange(len(ids)), index=ids).loc[version.validation["_row"]].to_numpy()
    return Known(
        inputs=rows[columns],
        answers=rows[version.target],
        held_out=held_out,
        said=_unseen(kept.of_rows(order)),
        recent=recent,
        said_recent=_unseen(load_model(inputs / "base").predict(recent)),
    )


def _unseen(found: Any) -> Any:
    from easeml.lifecycle.held_out import Unseen

    return Unseen(found.values, found.probabilities, found.classes)


def _of_weights(spec: AdaptSpec) -> tuple[AdaptSpec, list[str]]:
    """Return the spec with the members that learn from weights of rows, and who is left out."""
    from easeml.modules.pipeline import takes_weights

    members = [one for one in spec.members if takes_weights(one.pipeline.model_dump())]
    out = len(spec.members) - len(members)
    if not members:
        return spec.model_copy(update={"members": []}), ["What serves takes no weights of rows."]
    total = math.fsum(map(attrgetter("weight"), members))
    shares = [one.model_copy(update={"weight": one.weight / total}) for one in members]
    said = [f"{out} of {len(spec.members)} members take no weights and are left out."]
    return spec.model_copy(update={"members": shares}), said if out else []


def _judged(
    spec: AdaptSpec,
    version: VersionTables,
    trained: TrainedPipeline | TrainedEnsemble,
    outputs: Path,
) -> tuple[dict[str, Any], list[str]]:
    """Write what training writes; return what it measures, and notes on what cannot be measured."""
    from easeml.modules import conformal, known_rows, row_order

    predictions = {role: trained.predict(getattr(version, role)) for role in ROLES}
    row_ids = {role: getattr(version, role)["_row"] for role in ROLES}
    write_predictions(outputs / "predictions", row_ids, predictions)
    target, rows, unseen = version.target, version.validation, predictions["validation"]
    found, notes = qualities_of(spec, version, rows, unseen, trained.predict)
    write_evaluation(outputs / "evaluation", version, rows, unseen)
    weights = weights_of(version, rows["_row"])
    interval = conformal.describe(rows[target], unseen, weights, trained.past)
    save_members(
        trained,
        outputs / "model",
        quality=found["quality"],
        objective=spec.objective,
        interval=interval,
        order=row_order.describe(version.train, version),
    )
    known_rows.write(outputs / "model", version.train, target, trained.schema_in)
    return {**found, "latency": latency_of(trained, rows)}, notes


def _refit(
    spec: AdaptSpec, version: VersionTables, lessons: Lessons, quality: float, outputs: Path
) -> None:
    """Write the model as it would serve: fitted on the validation rows, too."""
    from easeml.modules import known_rows, row_order

    everything = np.ones(len(lessons.known.answers), dtype=bool)
    rows, weights = lessons.of(everything)
    history = history_of(version, [one.pipeline for one in spec.members])
    whole = together(spec, fit_members(spec, rows, weights, history=history))
    folder = outputs / "refitted"
    save_members(
        whole,
        folder,
        quality=quality,
        objective=spec.objective,
        interval=None,
        order=row_order.describe(rows, version),
    )
    known_rows.write(folder, rows, version.target, whole.schema_in)
    predictions = {"test": whole.predict(version.test)}
    write_predictions(outputs / "refitted-predictions", {"test": version.test["_row"]}, predictions)


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The version that the model learned from, the model, what it predicted, and recent rows."""
    spec = AdaptSpec.model_validate(task.payload)
    base = tables.models.get(spec.base_id)
    return {
        "version": version_of_job(tables, task.job_id),
        "base": base.artefact,
        "predictions": base.predictions,
        "recent": spec.source,
    }


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the adapted model, if the way applies."""
    from easeml.service.models import adapted

    adapted.record(tx, task, result, digests)


def called(payload: Mapping[str, Any]) -> str:
    """The name of the model."""
    return str(payload["name"])


KIND = Kind(
    name="adapt",
    title="Adapt the model to recent rows",
    about="Fits what serves to recent rows without labels: by weights, class shares or units.",
    group="advise",
    lane=Lane.SEARCH,
    spec=AdaptSpec,
    body=adapt,
    inputs=inputs,
    record=record,
    values=("applies", "says"),
    called=called,
)
