"""Jobs: watching and steering a model search."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.search import ending, jobs, progress
from easeml.service.tasks import task_views

OPERATIONS = (
    Operation("jobs", "GET", "/jobs", jobs.list_page),
    Operation("job", "GET", "/jobs/{job_id}", jobs.get),
    Operation("job_ending", "GET", "/jobs/{job_id}/ending", ending.get),
    Operation("job_tasks", "GET", "/jobs/{job_id}/tasks", task_views.of_job),
    Operation("progress", "GET", "/jobs/{job_id}/progress", progress.get),
    Operation("pause_job", "POST", "/jobs/{job_id}/pause", jobs.pause),
    Operation("resume_job", "POST", "/jobs/{job_id}/resume", jobs.resume),
    Operation("stop_job", "POST", "/jobs/{job_id}/stop", jobs.stop),
    Operation("limit_job", "POST", "/jobs/{job_id}/limits", jobs.set_limits),
)

router = APIRouter(tags=["jobs"])
add_routes(router, OPERATIONS)
