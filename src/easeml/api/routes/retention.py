"""What is kept, and what goes by itself."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.retention import retention

_PATH = "/applications/{application_id}/retention"

OPERATIONS = (
    Operation("retention_plan", "GET", "/retention", retention.plan),
    Operation("collect", "POST", "/retention/collect", retention.collect),
    Operation("retention", "GET", _PATH, retention.get_rule),
    Operation("set_retention", "PUT", _PATH, retention.set_rule),
    Operation("keep_model", "POST", "/models/{model_id}/keep", retention.keep_model),
)

router = APIRouter(tags=["administration"])
add_routes(router, OPERATIONS)
