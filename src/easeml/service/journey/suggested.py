"""What was suggested, with the gain that was expected, scored by what came."""

import operator
from collections import defaultdict
from collections.abc import Mapping, Sequence

from easeml.contract.jobs import Job as JobAnswer
from easeml.contract.journey import Action, Suggestion
from easeml.contract.parameters import After, Limit
from easeml.contract.resources import Page
from easeml.contract.states import JobState
from easeml.ids import new_id
from easeml.lifecycle.journey import Estimate, Outcome
from easeml.service.access.caller import Caller
from easeml.service.access.paging import page_records
from easeml.service.search import validation_scores
from easeml.store import Store, Tables, Transaction, records
from easeml.store.records import Application, Job

_OF_PEOPLE = ("check-labels", "label", "clean", "use-answers")  # they show in the next version
# How the id of the search that shows an action compares with the one that it was suggested beside.
_SHOWS = {"search": operator.eq, **dict.fromkeys(_OF_PEOPLE, operator.gt)}
_RESTING = (JobState.RESTING, JobState.STOPPED)
_NEAR = 1e-9
_NEWEST = 100  # suggestions of a tenant that experience is made of


def list_page(
    store: Store, caller: Caller, application_id: str, *, after: After = None, limit: Limit = 50
) -> Page[Suggestion]:
    """Return a page of what was suggested, newest first, with what came; raises ``NotFound``."""
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        found, following = page_records(
            tables.suggestions, after, limit, newest_first=True, application_id=application.id
        )
        jobs = tables.jobs.list(application_id=application.id, limit=None)
        scores = _scores(tables, found, {application.id: jobs})
        shown = [_show(one, jobs, scores) for one in found]
    return Page(items=shown, next=following)


def not_recorded(
    tables: Tables, application: Application, actions: Sequence[Action]
) -> list[Action]:
    """Return the actions that were not suggested yet about the data as it is."""
    told = tables.suggestions.column(
        "kind", application_id=application.id, version_id=application.version_id
    )
    known = set(told)
    return [action for action in actions if action.kind not in known]


def record(
    tx: Transaction, application: Application, job: JobAnswer, actions: Sequence[Action]
) -> None:
    """Keep what is suggested beside a search, but what was recorded meanwhile."""
    tables = tx.scoped(application.tenant_id)
    new = []
    for action in not_recorded(tables, application, actions):
        gain, low, high = _reckoned(action)
        new.append(
            records.Suggestion(
                id=new_id("sug"),
                tenant_id=application.tenant_id,
                application_id=application.id,
                version_id=application.version_id,
                job_id=job.id,
                kind=action.kind,
                gain=gain,
                low=low,
                high=high,
                score=job.best_quality,
                human_minutes=action.human_minutes,
                device_seconds=action.device_seconds,
            )
        )
    tables.suggestions.add_all(new)


def _reckoned(action: Action) -> Sequence[float | None]:
    """Return gain and interval of an action as they were before experience corrected them."""
    if action.reckoned is not None:
        return action.reckoned
    return (action.gain, *(action.interval or (None, None)))


def outcomes(tables: Tables) -> list[Outcome]:
    """Return what came of a tenant's newest suggestions, as far as it is known."""
    newest = tables.suggestions.list(limit=_NEWEST, newest_first=True)
    scored = [told for told in newest if told.kind in _SHOWS]
    of = {told.application_id for told in scored}
    jobs: defaultdict[str, list[Job]] = defaultdict(list)
    for job in tables.jobs.list(application_id=sorted(of), limit=None):
        jobs[job.application_id].append(job)
    scores = _scores(tables, scored, jobs)
    found = []
    for told in scored:
        came = _came(told, jobs[told.application_id], scores)
        if told.gain is None or told.low is None or told.high is None or came is None:
            continue
        found.append(Outcome(told.kind, Estimate(told.gain, told.low, told.high), came))
    return found


def _show(
    told: records.Suggestion, jobs: Sequence[Job], scores: Mapping[str, float | None]
) -> Suggestion:
    came = _came(told, jobs, scores)
    interval = None
    within = None
    if told.low is not None and told.high is not None:
        interval = [told.low, told.high]
        if came is not None:
            within = told.low - _NEAR <= came <= told.high + _NEAR
    return Suggestion(
        id=told.id,
        version_id=told.version_id,
        kind=told.kind,
        gain=told.gain,
        interval=interval,
        human_minutes=told.human_minutes,
        device_seconds=told.device_seconds,
        came=came,
        within=within,
        created=told.created,
    )


def _came(
    told: records.Suggestion, jobs: Sequence[Job], scores: Mapping[str, float | None]
) -> float | None:
    """Return the score that was gained, when the search that shows it rests; None before.

    What people did shows on validation rows alone, which are the same before and after: their
    ``scores`` by search.
    """
    job = _shown_by(told, jobs)
    if job is None or told.score is None or job.best_quality is None or job.state not in _RESTING:
        return None
    if told.kind not in _OF_PEOPLE:
        return job.best_quality - told.score
    before = scores.get(told.job_id)
    after = scores.get(job.id)
    if before is None or after is None:
        return None
    return after - before


def _scores(
    tables: Tables, found: Sequence[records.Suggestion], jobs: Mapping[str, Sequence[Job]]
) -> Mapping[str, float | None]:
    """Return by search what it scored on validation rows alone, of those that show people's work.

    A search that was stopped for a newer version tells nothing of it.
    """
    scores: dict[str, float | None] = {}
    for told in found:
        of_application = jobs[told.application_id]
        job = _shown_by(told, of_application)
        if job is None or _is_cut_short(job, of_application):
            continue
        for id in (told.job_id, job.id):
            if id not in scores:
                scores[id] = validation_scores.of_job(tables, id)
    return scores


def _is_cut_short(job: Job, jobs: Sequence[Job]) -> bool:
    """Tell whether a search was stopped since a newer version has another one."""
    newest = jobs[-1]
    return job.state == JobState.STOPPED and job.id != newest.id


def _shown_by(told: records.Suggestion, jobs: Sequence[Job]) -> Job | None:
    """Return the search that shows what an action brought; ``jobs``: in order of their ids.

    Of searching on, that is the search itself; of people's work, the next search that followed.
    """
    shows = _SHOWS.get(told.kind)
    if shows is None:
        return None
    return next((job for job in jobs if shows(job.id, told.job_id)), None)
