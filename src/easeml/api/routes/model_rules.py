"""The rules that every model of an application has to keep."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.applications import model_rules

_PATH = "/applications/{application_id}/model-rules"

OPERATIONS = (
    Operation("model_rules", "GET", _PATH, model_rules.get),
    Operation("set_model_rules", "PUT", _PATH, model_rules.set_rules, whole=True),
)

router = APIRouter(tags=["applications"])
add_routes(router, OPERATIONS)
