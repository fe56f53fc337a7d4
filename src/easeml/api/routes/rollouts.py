"""Roll-outs: how a better model comes to serve an application."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.models import rollouts

_PATH = "/applications/{application_id}/rollouts"

OPERATIONS = (
    Operation("rollouts", "GET", _PATH, rollouts.list_rollouts),
    Operation("set_rollout_rule", "PUT", f"{_PATH}/rule", rollouts.set_rollout_rule, whole=True),
    Operation("start_rollout", "POST", _PATH, rollouts.start_rollout, repeatable=False, whole=True),
    Operation(
        "end_rollout", "POST", f"{_PATH}/end", rollouts.end_rollout, repeatable=False, whole=True
    ),
)

router = APIRouter(tags=["applications"])
add_routes(router, OPERATIONS)
