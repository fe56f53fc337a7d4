"""When data grows, or another objective counts, what serves is scored first as others will be.

Qualities are compared by the same objective, on the same validation rows, or not at all.

No row ever changes its role, so two versions have the same validation rows if one was made of the
other and they have as many. People may have corrected answers of these since (decision 0176). Then
the models that compete with what serves are judged again as well, by what they predicted: the best
by the answers of before may not be the best.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from easeml.service.advice import reports
from easeml.service.datasets.lines import line_of_rows
from easeml.service.search import jobs
from easeml.service.tasks import requests
from easeml.store import Tables, Transaction, id_of
from easeml.store.records import (
    Application,
    DatasetVersion,
    Json,
    Report,
    Task,
    TrainedModel,
)
from easeml.store.shapes import Shape

KIND = "rescore"
_MOST_RIVALS = 100  # newest models that are judged again


@dataclass(frozen=True, slots=True)
class Asked(Shape):
    """What a task is told: the version whose validation rows count.

    ``rivals``: models that are judged again by what they predicted, what serves among them.
    """

    version_id: str
    rivals: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Rival(Shape):
    """The model that is best by corrected answers: its quality and that of what serves, ``live``.

    Both by what they predicted of the same rows. ``measure``: the quality in its own unit.
    """

    model_id: str
    quality: float
    live: float
    measure: Json


@dataclass(frozen=True, slots=True)
class Rescored(Shape):
    """What a report says; None: the model could not be scored.

    ``objective``: by which; reports of older releases say it in the measure, if at all.
    """

    model_id: str
    quality: float | None
    measure: Json | None = None  # the same in its own unit; older releases kept none
    objective: str = ""
    rival: Json | None = None  # a ``Rival``; None where no model was judged again

    @property
    def told_by(self) -> str:
        """The objective of the quality; empty where nobody said it."""
        return self.objective or (self.measure or {}).get("objective", "")


def live_quality(
    tables: Tables, application: Application, rival: TrainedModel
) -> tuple[float | None, float]:
    """Return by what the live model and a ``rival`` of the application's version are compared.

    Both numbers are of the same rows: those that judged both, else the validation rows of the
    version. The first is None without a live model, and where it is not known (yet, or because the
    model could not be scored).
    """
    live = tables.models.find(id=application.live_model_id)
    if live is not None and _are_judged_alike(tables, application, live, rival):
        return live.standing, rival.standing
    quality = _live(tables, application).quality
    if live is None or quality is None:
        return quality, rival.on_validation_rows
    flattery = _flattery_of_the_best(tables, application, live)
    return quality + flattery, rival.on_validation_rows


def live_score(tables: Tables, application: Application) -> float | None:
    """Return what the live model scores on the validation rows, without what ranks it above that.

    None as of ``live_quality``.
    """
    return _live(tables, application).quality


def _are_judged_alike(
    tables: Tables, application: Application, live: TrainedModel, rival: TrainedModel
) -> bool:
    """Tell whether the rows that judged a rival have judged what serves, by as many folds."""
    job = tables.jobs.get(live.job_id)
    is_of_version = job.version_id == application.version_id
    have_folds = {live.held_out is None, rival.held_out is None}
    return is_of_version and job.is_judged_by(application.objective) and len(have_folds) == 1


def request(tx: Transaction, application: Application) -> bool:
    """See to it that the live model is scored on the application's version.

    Returns True while that is under way.
    """
    tables = tx.scoped(application.tenant_id)
    if not application.live_model_id:
        return False
    model = tables.models.get(application.live_model_id)
    if _is_up_to_date(tables, application, model):
        return False
    under_way = requests.under_way(tables, KIND, model.id)
    asked = [(Asked.from_json(task.payload).version_id, task.objective) for task in under_way]
    if (application.version_id, application.objective) in asked:
        return True
    job = jobs.current(tables, application.id)
    requests.request(
        tx,
        application.tenant_id,
        KIND,
        model.id,
        job_id=id_of(job),
        objective=application.objective,
        version_id=application.version_id,
        rivals=_rivals(tables, application, model),
    )
    return True


def _rivals(tables: Tables, application: Application, live: TrainedModel) -> list[str]:
    """Return the models that corrected answers may show to be better than what serves, and that.

    They were judged by the same rows, before answers of these were corrected, and kept what they
    predicted; ensembles, which were chosen by those answers, are none. None where no answers were
    corrected since the ``live`` model was judged.
    """
    versions = tables.versions.by_id(dataset_id=application.dataset_id)
    version = versions[application.version_id]
    judged_on = versions[tables.jobs.get(live.job_id).version_id]
    if not _is_corrected(judged_on, version, versions):
        return []
    searches = tables.jobs.list(application_id=application.id, limit=None)
    by_objective = filter(lambda job: job.is_judged_by(application.objective), searches)
    ids = [job.id for job in by_objective if _has_rows(versions[job.version_id], version, versions)]
    models = tables.models.list(job_id=ids, error="", limit=_MOST_RIVALS, newest_first=True)
    trained = [model.id for model in models if model.candidate_id and model.predictions]
    others = [id for id in trained if id != live.id]
    if not others or not live.predictions:
        return []
    return [live.id, *others]


def _is_corrected(
    one: DatasetVersion, other: DatasetVersion, versions: Mapping[str, DatasetVersion]
) -> bool:
    """Tell whether versions with the same validation rows have other answers of these."""
    corrected = (one.summary.corrected("validation"), other.summary.corrected("validation"))
    return corrected[0] != corrected[1] and _has_rows(one, other, versions)


def rival(tables: Tables, application: Application) -> Rival | None:
    """Return the model that corrected answers show to be better than what serves; None for none."""
    if not application.live_model_id:
        return None
    model = tables.models.get(application.live_model_id)
    told = Rescored("", None)
    if not _is_comparable(tables, application, model):
        told = _rescored(tables, application)
    if told.rival is None:
        return None
    found = Rival.from_json(told.rival)
    is_better = found.quality > found.live + _flattery_of_the_best(tables, application, model)
    return found if is_better else None


def _flattery_of_the_best(tables: Tables, application: Application, live: TrainedModel) -> float:
    """Return by how much the best of many models is flattered as against what serves.

    Rows that chose it judge it. An ensemble is judged by rows that did not choose it, and is ranked
    above its own quality for that (``models.ensembling``); for any other model it is 0.
    """
    if not tables.jobs.get(live.job_id).is_judged_by(application.objective):
        return 0.0
    return live.standing - live.quality


def _is_up_to_date(tables: Tables, application: Application, model: TrainedModel) -> bool:
    """Tell whether nothing more is to be learned of the live model, and it knows all values.

    What forecasts is told those of each version, also where it is pinned: a value that came last
    says where the next one begins.
    """
    if application.rules.forecast and not _knows_version(tables, application, model):
        return False
    if application.pinned or _is_comparable(tables, application, model):
        return True
    return _report(tables, application) is not None


def _knows_version(tables: Tables, application: Application, model: TrainedModel) -> bool:
    """Tell whether a forecast was told the values of the application's version, or could not be."""
    found = tables.reports.list(kind=KIND, subject=application.id, limit=None, newest_first=True)
    for report in found:
        if Rescored.from_json(report.value).model_id == model.id:
            return report.version_id == application.version_id
    return tables.jobs.get(model.job_id).version_id == application.version_id


def told(tables: Tables, application_ids: Sequence[str], version_ids: Sequence[str]) -> set[str]:
    """Return the ids of the models that were scored on some versions, or told their values."""
    found = tables.reports.list(
        kind=KIND, subject=list(application_ids), version_id=list(version_ids), limit=None
    )
    return {Rescored.from_json(report.value).model_id for report in found}


def quality_then(tables: Tables, application: Application, version: DatasetVersion) -> float | None:
    """Return how good what served then was on the rows of a version; None where it is unknown."""
    found = tables.reports.find(kind=KIND, subject=application.id, version_id=version.id)
    if found is None:
        return None
    return Rescored.from_json(found.value).quality


def live_measure(tables: Tables, application: Application) -> Json | None:
    """Return ``live_quality`` in its own unit, an ``easeml.modules.Measured``; None likewise."""
    return _live(tables, application).measure


def _live(tables: Tables, application: Application) -> Rescored:
    """Return what is known of the live model on the validation rows of the application's version.

    An ensemble is ranked above that.
    """
    if not application.live_model_id:
        return Rescored("", None)
    model = tables.models.get(application.live_model_id)
    if not _is_comparable(tables, application, model):
        return _rescored(tables, application)
    measure = tables.tasks.get(model.task_id).measure
    quality = model.quality if model.held_out is None else model.held_out
    return Rescored(model.id, quality, measure)


def record(
    tx: Transaction,
    task: Task,
    quality: float | None,
    measure: Json | None = None,
    rival: Json | None = None,
) -> Report:
    """Keep what ``task`` found; None: the model could not be scored.

    ``measure``: the quality in its own unit, an ``easeml.modules.Measured``. ``rival``: the best
    of the models that were judged again, a ``Rival``; None for none.
    """
    model = tx.scoped(task.tenant_id).models.get(task.subject)
    version_id = Asked.from_json(task.payload).version_id
    found = Rescored(model.id, quality, measure, task.objective, rival)
    return reports.keep(tx, task, model.application_id, version_id, found.to_json())


def have_same_validation_rows(
    one: DatasetVersion, other: DatasetVersion, versions: Mapping[str, DatasetVersion]
) -> bool:
    """Can qualities on the validation rows of two versions of an application be compared?

    Not where people corrected answers of these in between. ``versions``: those of its data set, by
    id.
    """
    corrected = (one.summary.corrected("validation"), other.summary.corrected("validation"))
    return corrected[0] == corrected[1] and _has_rows(one, other, versions)


def _has_rows(
    one: DatasetVersion, other: DatasetVersion, versions: Mapping[str, DatasetVersion]
) -> bool:
    """Tell whether two versions have the same validation rows, whatever their answers.

    After going back to an earlier version, and where all rows were replaced, others may have as
    many rows and not the same.
    """
    if one.summary.rows_of("validation") != other.summary.rows_of("validation"):
        return False
    older, newer = sorted((one, other), key=lambda version: version.number)
    return older.id in line_of_rows(newer.id, versions)


def _is_comparable(tables: Tables, application: Application, model: TrainedModel) -> bool:
    job = tables.jobs.get(model.job_id)
    if not job.is_judged_by(application.objective):
        return False
    return _are_comparable(tables, job.version_id, application.version_id)


def _are_comparable(tables: Tables, one_id: str, other_id: str) -> bool:
    if one_id == other_id:
        return True
    one = tables.versions.get(one_id)
    versions = tables.versions.by_id(dataset_id=one.dataset_id)
    return have_same_validation_rows(one, versions[other_id], versions)


def _rescored(tables: Tables, application: Application) -> Rescored:
    """Return what was found when the live model was scored on the rows of the version in use."""
    report = _report(tables, application)
    if report is None:
        return Rescored(application.live_model_id, None)
    return Rescored.from_json(report.value)


def _report(tables: Tables, application: Application) -> Report | None:
    """Return the report on the live model and the validation rows of the application's version."""
    found = tables.reports.list(kind=KIND, subject=application.id, limit=None, newest_first=True)
    for report in found:
        rescored = Rescored.from_json(report.value)
        if rescored.model_id != application.live_model_id:
            continue
        if rescored.told_by not in ("", application.objective):
            continue
        if _are_comparable(tables, report.version_id, application.version_id):
            return report
    return None
