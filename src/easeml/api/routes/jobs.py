"""Jobs: watching and steering a model search."""

from typing import Literal

from fastapi import APIRouter

from easeml.api.context import Asker, Here
from easeml.api.operations import Operation, add_routes
from easeml.contract.jobs import Job
from easeml.service.search import jobs, progress

OPERATIONS = (
    Operation("jobs", "GET", "/jobs", jobs.list_page),
    Operation("job", "GET", "/jobs/{job_id}", jobs.get),
    Operation("progress", "GET", "/jobs/{job_id}/progress", progress.get),
    Operation("limit_job", "POST", "/jobs/{job_id}/limits", jobs.set_limits),
)

router = APIRouter(tags=["jobs"])
add_routes(router, OPERATIONS)


@router.post("/jobs/{job_id}/{action}")
def change_job(
    here: Here, asker: Asker, job_id: str, action: Literal["pause", "resume", "stop"]
) -> Job:
    """Pause, resume or stop a job; doing so again changes nothing."""
    return jobs.change(here.store, asker, job_id, action)
