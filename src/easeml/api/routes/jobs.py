"""Jobs: watching and steering a model search."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from easeml.api.context import After, Asker, Here, Limit, OfApplication
from easeml.contract.progress import Progress
from easeml.contract.resources import Job, JobLimits, Page
from easeml.service.search import jobs, progress

router = APIRouter(prefix="/jobs", tags=["jobs"])


@router.get("")
def list_jobs(
    here: Here,
    asker: Asker,
    application_id: OfApplication = None,
    after: After = None,
    limit: Limit = 50,
) -> Page[Job]:
    """List the tenant's jobs, oldest first."""
    return jobs.list_page(
        here.store, asker, after=after, limit=limit, application_id=application_id
    )


@router.get("/{job_id}")
def get_job(here: Here, asker: Asker, job_id: str) -> Job:
    """Show a job."""
    return jobs.get(here.store, asker, job_id)


@router.get("/{job_id}/progress")
def get_progress(
    here: Here,
    asker: Asker,
    job_id: str,
    points: Annotated[
        int, Query(ge=1, le=10_000, description="about how many tasks that changed nothing")
    ] = 1000,
) -> Progress:
    """Show the finished tasks of a job, thinned, with quality and cost."""
    return progress.get(here.store, asker, job_id, points)


@router.post("/{job_id}/limits")
def limit_job(here: Here, asker: Asker, job_id: str, wish: JobLimits) -> Job:
    """Set what a job may use in all; one that rests because of its limits goes on if they were
    raised.
    """
    return jobs.set_limits(here.store, asker, job_id, wish)


@router.post("/{job_id}/{action}")
def change_job(
    here: Here, asker: Asker, job_id: str, action: Literal["pause", "resume", "stop"]
) -> Job:
    """Pause, resume or stop a job; doing so again changes nothing."""
    return jobs.change(here.store, asker, job_id, action)
