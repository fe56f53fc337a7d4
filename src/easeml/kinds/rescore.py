"""Advise: the quality of a trained model on the validation rows of a newer version."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from easeml.contract.tasks import Spec, TaskResult
from easeml.kinds.shared.histories import known_rows
from easeml.kinds.shared.judged import HELD_OUT, read_judging
from easeml.kinds.shared.predictions import read_predictions
from easeml.kinds.shared.row_weights import weights_of
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from easeml.data import VersionTables
    from easeml.modules import Predictions
    from easeml.modules.ensemble import TrainedEnsemble
    from easeml.modules.pipeline import TrainedPipeline
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task


class RescoreSpec(Spec):
    """Advise: the quality of a trained model on the validation rows of a newer version.

    Inputs ``model`` and ``served``, the model's folders as it was judged and as it serves, and
    ``version``, the folder of version ``version_id``. ``rivals``: models that are judged again by
    what they predicted, this one first; inputs ``predictions-0`` ... are theirs, in order.
    """

    kind: Literal["rescore"] = "rescore"
    objective: str
    version_id: str
    rivals: list[str] = Field(default_factory=list)


def score_again(spec: RescoreSpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return ``{quality, measure, rows, rival}``: of the trained model, on the validation rows of
    the version. ``measure``: in its own unit, an ``easeml.modules.Measured``. ``rival``: the best
    of the rivals, as ``service.advice.rescoring.Rival``; None without any.

    Of a forecast, output ``served`` is what serves, told the values of the version.
    """
    from easeml.data import read_version
    from easeml.modules import measured, score
    from easeml.modules.ensemble import load_model

    version = read_version(inputs / "version")
    model = load_model(inputs / "model")
    rows, predictions = _said(model, version, inputs / "predictions")
    answers, weights = rows[version.target], weights_of(version, rows["_row"])
    quality = score(spec.objective, answers, predictions, weights)
    found = measured(
        spec.objective, answers, predictions, weights, resamples=0, target=version.target
    )
    measure = asdict(found)
    value = {"quality": quality, "measure": measure, "rows": len(rows)}
    value["rival"] = _best_rival(spec, version, inputs)
    if model.past is None:
        return TaskResult(ok=True, value=value)
    _tell(inputs / "served", outputs / "served", version)
    return TaskResult(ok=True, value=value, outputs=["served"])


def _said(
    model: TrainedPipeline | TrainedEnsemble, version: VersionTables, kept: Path
) -> tuple[pd.DataFrame, Predictions]:
    """Return the validation rows, and what a model says of each.

    Of rows that judged it, that is what was kept then (a file, if it is there): an ensemble was
    chosen by these rows, and what it says of them now would flatter it.
    """
    import numpy as np
    import pandas as pd

    from easeml.modules.joined import joined

    rows = version.validation
    if not kept.exists():
        return rows, model.predict(rows)
    ids, said = read_predictions(kept, HELD_OUT)
    is_there = np.isin(ids, rows["_row"])
    judged: Any = rows.set_index("_row").loc[ids[is_there]].reset_index()
    told = said.of_rows(is_there)
    newer: Any = rows[~rows["_row"].isin(judged["_row"])]
    if not len(newer):
        return judged, told
    return pd.concat([judged, newer], ignore_index=True), joined([told, model.predict(newer)])


def _best_rival(spec: RescoreSpec, version: VersionTables, inputs: Path) -> dict[str, Any] | None:
    """Return the model that is best on the rows that all of them were judged by; None of none.

    Of a small version, which folds judge, these are train rows as well.
    """
    from easeml.modules import measured, score

    if not spec.rivals:
        return None
    places = range(len(spec.rivals))
    judged = [read_judging(inputs / f"predictions-{place}", version) for place in places]
    common = list(set.intersection(*(set(rows["_row"]) for rows, _ in judged)))
    qualities = []
    for rows, said in judged:
        is_common = rows["_row"].isin(common).to_numpy()
        known = rows[is_common]
        counts = weights_of(version, known["_row"])
        answers = known[version.target]
        qualities.append(score(spec.objective, answers, said.of_rows(is_common), counts))
    best = max(places, key=lambda place: qualities[place])
    rows, said = judged[best]
    counts = weights_of(version, rows["_row"])
    measure = measured(
        spec.objective, rows[version.target], said, counts, resamples=0, target=version.target
    )
    return {
        "model_id": spec.rivals[best],
        "quality": qualities[best],
        "live": qualities[0],
        "measure": asdict(measure),
    }


def _tell(model: Path, out: Path, version: VersionTables) -> None:
    """Write what serves once more, told the values of a version."""
    from easeml.modules import newer_past

    shutil.copytree(model, out)
    newer_past.tell(out, known_rows(version))


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The model as it was judged and as it serves, and the newer version."""
    version = tables.versions.get(RescoreSpec.model_validate(task.payload).version_id)
    model = tables.models.get(task.subject)
    found = {"model": model.artefact, "served": model.served, "version": version.artefact}
    if model.predictions:
        found["predictions"] = model.predictions
    rivals = RescoreSpec.model_validate(task.payload).rivals
    models = tables.models.by_id(id=rivals)
    for place, model_id in enumerate(rivals):
        found[f"predictions-{place}"] = models[model_id].predictions
    return found


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Keep the quality, and what serves from now on, where it was told newer values."""
    from easeml.service.advice import rescoring
    from easeml.service.models import refitting

    if "served" in digests:
        version_id = RescoreSpec.model_validate(task.payload).version_id
        refitting.told_newer(tx, task, digests["served"], version_id)
    found = result.value
    quality = float(found["quality"])
    rescoring.record(tx, task, quality, found.get("measure"), found.get("rival"))


def failed(tx: Transaction, task: Task) -> None:
    """Keep that the model could not be scored."""
    from easeml.service.advice import rescoring

    rescoring.record(tx, task, None)


KIND = Kind(
    name="rescore",
    title="Score on new data",
    about="Scores the live model on the validation rows that new data brought.",
    group="advise",
    spec=RescoreSpec,
    body=score_again,
    inputs=inputs,
    record=record,
    failed=failed,
    values=("quality",),
)
