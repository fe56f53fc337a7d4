"""What the models of an application are measured by, beside the objectives that fit its target."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.applications import further_measures, pareto

_PATH = "/applications/{application_id}/measures"

OPERATIONS = (
    Operation("measures", "GET", _PATH, further_measures.get),
    Operation("ask_measure", "POST", _PATH, further_measures.ask),
    Operation("drop_measure", "POST", f"{_PATH}/remove", further_measures.drop),
    Operation("pareto", "GET", "/applications/{application_id}/pareto", pareto.get),
)

router = APIRouter(tags=["applications"])
add_routes(router, OPERATIONS)
