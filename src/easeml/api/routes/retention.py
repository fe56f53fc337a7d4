"""What is kept, and what goes by itself."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.retention import erasing, retention

_PATH = "/applications/{application_id}/retention"

OPERATIONS = (
    Operation("retention_plan", "GET", "/retention", retention.plan),
    Operation("collect", "POST", "/retention/collect", retention.collect),
    Operation("retention", "GET", _PATH, retention.get_rule),
    Operation("set_retention", "PUT", _PATH, retention.set_rule),
    Operation(
        "erase_rows",
        "POST",
        "/datasets/{dataset_id}/erasures",
        erasing.request,
        status=201,
        repeatable=False,
    ),
    Operation("erasures", "GET", "/datasets/{dataset_id}/erasures", erasing.list_page),
    Operation("keep_model", "POST", "/models/{model_id}/keep", retention.keep_model),
)

router = APIRouter(tags=["administration"])
add_routes(router, OPERATIONS)
