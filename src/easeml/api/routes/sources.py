"""Data from elsewhere that is fetched again."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.sources import following, refreshing, retrievals, schedules

_SCHEDULE = "/schedules/{schedule_id}"

OPERATIONS = (
    Operation("refresh_dataset", "POST", "/datasets/{dataset_id}/refresh", refreshing.refresh),
    Operation("source", "GET", "/applications/{application_id}/source", retrievals.source),
    Operation("retrievals", "GET", "/datasets/{dataset_id}/retrievals", retrievals.list_page),
    Operation("retrieval", "GET", "/retrievals/{retrieval_id}", retrievals.get),
    Operation(
        "add_schedule",
        "POST",
        "/schedules",
        schedules.add,
        status=201,
        repeatable=False,
        whole=True,
    ),
    Operation("schedules", "GET", "/schedules", schedules.list_page),
    Operation("schedules_view", "GET", "/schedules/view", schedules.view),
    Operation("schedule", "GET", _SCHEDULE, schedules.get),
    Operation("schedule_retrievals", "GET", f"{_SCHEDULE}/retrievals", schedules.retrievals_page),
    Operation("pause_schedule", "POST", f"{_SCHEDULE}/pause", schedules.pause),
    Operation("resume_schedule", "POST", f"{_SCHEDULE}/resume", schedules.resume),
    Operation("start_schedule", "POST", f"{_SCHEDULE}/start", schedules.start_now),
    Operation("delete_schedule", "DELETE", _SCHEDULE, schedules.delete, repeatable=False),
    Operation(
        "set_follows", "PUT", "/applications/{application_id}/follows", following.set_follows
    ),
)

router = APIRouter(tags=["datasets"])
add_routes(router, OPERATIONS)
