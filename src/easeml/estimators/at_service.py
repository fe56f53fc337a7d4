"""A search by a service: it has the rows, and an application there predicts."""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from easeml.client import Client, made_request
from easeml.client.frames import write_parquet
from easeml.contract.applications import Application, Declaration, Live
from easeml.contract.states import TaskState
from easeml.errors import NotReady
from easeml.estimators.frames import TARGET, free_name, numbers_of
from easeml.estimators.outcome import Listener, Outcome, Rows, Trial, Wish
from easeml.folders import unpack
from easeml.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

    from easeml.contract.task_views import Task

_GROUP, _WEIGHT = "group", "weight"
_TRAIN = "train"


@dataclass(frozen=True)
class Service:
    """An address, and the key for it; None: as the client finds it.

    A pickle does not hold the key.
    """

    url: str
    key: str | None = field(default=None, repr=False)

    def connect(self) -> Client:
        """Return a client; it has to be closed."""
        return Client(self.url, self.key)

    def __getstate__(self) -> dict[str, Any]:
        return {"url": self.url, "key": None}


@dataclass(frozen=True)
class ServedModel:
    """What an application serves.

    ``texts``: how the service writes the classes, by their names in rows; empty for numbers.
    ``target``, ``group`` and ``weight``: columns of its table; the latter two are empty where there
    are none.
    """

    service: Service
    application_id: str
    schema_in: Schema
    texts: Mapping[str, str]
    target: str
    group: str
    weight: str = ""  # as pickles of before have none

    def predict(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return what the endpoint predicts, with classes by their names in rows.

        Raises the client's errors, which name row and column.
        """
        with self.service.connect() as client:
            said = client.predict(self.application_id, rows)
        if not self.texts:
            return said
        name_of = {text: name for name, text in self.texts.items()}
        columns = {f"probability_{text}": f"probability_{name}" for text, name in name_of.items()}
        return said.rename(columns=columns).assign(prediction=said["prediction"].map(name_of))

    def save(self, folder: Path, facts: Mapping[str, Any]) -> None:
        """Write what serves into a new folder, as ``easeml model export`` does.

        ``facts`` are not needed: the service has its own. Raises ``InvalidInput`` for a folder that
        is there.
        """
        from easeml.export import ModelFacts, write_export

        with TemporaryDirectory(prefix="easeml-") as place, self.service.connect() as client:
            files = Path(place)
            model_id = _live(client.application(self.application_id)).model_id
            client.download_model(model_id, files / "model.tar")
            with tarfile.open(files / "model.tar") as tar:
                unpack(tar, files)
            told = ModelFacts.from_json((files / "facts.json").read_text())

            def sign(manifest: str) -> Mapping[str, Any]:
                return client.sign_export(model_id, manifest=manifest).bundle

            write_export(files / "model", told, "python", folder, sign=sign)


def declare(service: Service, rows: Rows, wish: Wish) -> ServedModel:
    """Upload rows and declare an application, whose search begins.

    Raises the client's errors, and ``ValueError`` where the service would not keep the classes
    apart as they are.
    """
    texts = {name: str(label) for name, label in wish.labels.items()}
    target = free_name(TARGET, rows.frame)
    group = "" if rows.groups is None else free_name(_GROUP, rows.frame)
    weight = "" if rows.weights is None else free_name(_WEIGHT, rows.frame)
    numbers = numbers_of(rows.frame)
    with service.connect() as client:
        dataset = client.upload(_table(rows, texts, target, group, weight))
        client.wait_version_ready(dataset.version.id)
        declaration = made_request(
            Declaration,
            dataset_id=dataset.id,
            target=target,
            objective=wish.objective or None,
            set={target: wish.kind, **dict.fromkeys(numbers, "number")},
            drop=[group] if group else [],
            keep=numbers,
            models=list(wish.models) or None,
            max_tasks=wish.trials,
            max_seconds=wish.limit,
            seed=wish.seed,
            split=f"group:{group}" if group else "random",
            weight=weight or None,
        )
        _check_classes(texts, client.propose(declaration).labels)
        application = client.create_application(declaration)
    schema_in = Schema.from_json(application.schema_in)
    return ServedModel(service, application.id, schema_in, texts, target, group, weight)


def feed(model: ServedModel, rows: Rows) -> None:
    """Add rows to the data of an application; its search goes on with all of them.

    Raises the client's errors, and ``ValueError`` where groups or weights are given but were not
    before, or the other way round.
    """
    for what, column, given in (
        ("Groups", model.group, rows.groups),
        ("Weights", model.weight, rows.weights),
    ):
        if bool(column) != (given is not None):
            raise ValueError(f"{what} have to be given for all rows or for none.")
    table = _table(rows, model.texts, model.target, model.group, model.weight)
    with TemporaryDirectory(prefix="easeml-") as place, model.service.connect() as client:
        path = Path(place) / "rows.parquet"
        write_parquet(table, path)
        version = client.feed(model.application_id, path)
        client.wait_version_ready(version.id)


def wait(model: ServedModel, tell: Listener) -> Outcome:
    """Wait until the search of an application has ended; ``tell`` hears of each model on the way.

    Raises ``Conflict`` where the search failed, ``NotReady`` where it found no model.
    """
    with model.service.connect() as client:
        teller = _Teller(client, tell)
        application = client.wait(model.application_id, until="converged", on_look=teller.look)
        teller.look(application)
        return _outcome(client, model, application)


class _Teller:
    """Tells of each training of a search once, when it has ended."""

    def __init__(self, client: Client, tell: Callable[[Trial], None]):
        self._client = client
        self._tell = tell
        self._told: set[str] = set()

    def look(self, application: Application) -> None:
        """Tell of what ended since the last look."""
        job = application.job
        if job is None or job.tasks_done + job.tasks_failed == len(self._told):
            return
        for task in _ended(self._client, job.id):
            if task.id not in self._told:
                self._told.add(task.id)
                self._tell(_trial(task, {}))


def _table(
    rows: Rows, texts: Mapping[str, str], target: str, group: str, weight: str
) -> pd.DataFrame:
    """Return rows as one table, with their answers as the service is to read them."""
    answers = [texts[name] for name in rows.answers] if texts else rows.answers
    columns: dict[str, Any] = {target: answers}
    if group:
        columns[group] = rows.groups
    if weight:
        columns[weight] = rows.weights
    return rows.frame.assign(**columns)


def _check_classes(texts: Mapping[str, str], read: list[str]) -> None:
    """Raise ``ValueError`` where the service does not read the classes as they were sent."""
    sent = sorted(texts.values())
    if read and sent != sorted(read):  # of very few rows they are not known yet
        raise ValueError(
            f"The classes {sent} would be read as {sorted(read)}, since some look alike or like a "
            "missing value. Rename them, or search in this process (without url)."
        )


def _live(application: Application) -> Live:
    """Return what serves. Raises ``NotReady`` where nothing does."""
    if application.live is None:
        raise NotReady(
            "The search found no model.",
            where=application.id,
            remedy="Give it more seconds (time_limit), or see why: easeml task list.",
        )
    return application.live


def _outcome(client: Client, model: ServedModel, application: Application) -> Outcome:
    live = _live(application)
    job = application.job
    assert job is not None  # a search has ended
    trained = {one.task_id: one for one in client.models(application.id)}
    trials = []
    for task in _ended(client, job.id):
        config = trained[task.id].config if task.id in trained else {}
        trials.append(_trial(task, config))
    members = [(member.name, member.weight) for member in live.ensemble]
    return Outcome(
        model=model,
        objective=application.objective,
        quality=_quality(application),
        seconds=job.cost,
        members=members or [(live.model, 1.0)],
        refitted=live.refitted,
        trials=trials,
    )


def _quality(application: Application) -> float:
    """Return the quality on test rows; where it could not be read, that on validation rows."""
    if application.test_quality is not None:
        return application.test_quality.value
    assert application.live_model is not None  # something serves
    return application.live_model.quality


def _ended(client: Client, job_id: str) -> list[Task]:
    """Return the trainings of a search that are done or failed."""
    tasks = client.tasks(job_id=job_id, kind=_TRAIN)
    return [task for task in tasks if task.state in (TaskState.DONE, TaskState.FAILED)]


def _trial(task: Task, config: Mapping[str, Any]) -> Trial:
    pipeline = {"model": {"config": dict(config)}}
    return Trial(task.name, pipeline, task.cost, task.quality, task.error)
