"""History: trials of another program, read as runs that a search learns from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from easeml.contract.tasks import Spec, TaskResult
from easeml.service.tasks.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from easeml.modules.histories import Taken
    from easeml.store import Tables, Transaction
    from easeml.store.records import Task

_MOST_TAKEN = 200
_MOST_TOLD = 50  # trials that were left out, with their reasons
_SECONDS = 120.0


class ImportHistorySpec(Spec):
    """History: read a study or a log of trials.

    Input ``source``, the file (an artefact with the digest ``source``). ``models``: name -> space;
    the rest as of ``service.search.histories.Asked``. Value: ``taken`` and ``left_out`` trials,
    ``ignored`` parameters, and their ``counts``.
    """

    kind: Literal["import-history"] = "import-history"
    filename: str
    source: str
    models: dict[str, dict[str, Any]]
    model: str = ""
    study: str = ""
    value: str = ""
    direction: str = ""


def import_history(spec: ImportHistorySpec, inputs: Path, outputs: Path) -> TaskResult:
    """Return the trials that mean something here, and why others do not.

    Raises ``InvalidInput`` for a file that is no study, or of which no trial can be taken.
    """
    from dataclasses import asdict

    from easeml.errors import InvalidInput
    from easeml.modules.histories import mapped, read_study

    study = read_study(
        inputs / "source",
        spec.filename,
        study=spec.study,
        value=spec.value,
        direction=spec.direction,
    )
    found = mapped(study, spec.models, spec.model)
    if not found.taken:
        why = found.left_out[0].why if found.left_out else "It has no trials."
        raise InvalidInput(
            f"None of its {len(study.trials)} trials can be taken. The first: {why}",
            where=spec.filename,
            remedy=f"If all are of one model, name it (model): {', '.join(spec.models)}.",
        )
    kept = _spread(found.taken)
    counts = {"taken": len(found.taken), "left_out": len(found.left_out), "kept": len(kept)}
    value = {
        "study": study.name,
        "direction": study.direction.value,
        "taken": list(map(asdict, kept)),
        "left_out": list(map(asdict, found.left_out[:_MOST_TOLD])),
        "ignored": dict(found.ignored),
        "counts": counts,
    }
    return TaskResult(ok=True, value=value, outputs=[], notes=list(found.notes))


def _spread(taken: Sequence[Taken]) -> list[Taken]:
    """Return at most 200 trials, from the best to the worst in even steps.

    The best alone would tell nothing of what to leave out.
    """
    ordered = sorted(taken, key=lambda one: -one.quality)
    if len(ordered) <= _MOST_TAKEN:
        return ordered
    step = (len(ordered) - 1) / (_MOST_TAKEN - 1)
    return [ordered[round(place * step)] for place in range(_MOST_TAKEN)]


def inputs(tables: Tables, task: Task) -> dict[str, str]:
    """The file."""
    return {"source": ImportHistorySpec.model_validate(task.payload).source}


def record(tx: Transaction, task: Task, result: TaskResult, digests: Mapping[str, str]) -> None:
    """Let the searches of the application learn from it."""
    from easeml.service.search import histories

    histories.record(tx, task, result)


def called(payload: Mapping[str, Any]) -> str:
    """The name of the file."""
    return str(payload["filename"])


KIND = Kind(
    name="import-history",
    title="Read a history",
    about="Reads trials of another program, of which the search learns.",
    group="advise",
    spec=ImportHistorySpec,
    body=import_history,
    inputs=inputs,
    record=record,
    values=("taken",),
    seconds=_SECONDS,
    called=called,
)
