"""The journey of an application: its goal, where it stands, and what to do next."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.journey import goals, next_steps, suggested
from easeml.service.views import application_view

_HERE = "/applications/{application_id}"

OPERATIONS = (
    Operation("goal", "GET", f"{_HERE}/goal", goals.get),
    Operation("set_goal", "POST", f"{_HERE}/goal", goals.set_goal),
    Operation("next_actions", "GET", f"{_HERE}/next", next_steps.get),
    Operation("suggestions", "GET", f"{_HERE}/suggestions", suggested.list_page),
    Operation("journey_view", "GET", f"{_HERE}/journey", application_view.next_view),
)

router = APIRouter(tags=["journey"])
add_routes(router, OPERATIONS)
