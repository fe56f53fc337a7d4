"""The knowledge base: what can be plugged in, adding to it, and archiving."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.modules import adding, catalogue

OPERATIONS = (
    Operation("knowledge_base", "GET", "/modules", catalogue.get),
    Operation("module_titles", "GET", "/modules/titles", catalogue.titles),
    Operation("add_module", "POST", "/modules", adding.add, status=201),
    Operation("share_module", "POST", "/modules/{name}/share", catalogue.share),
    Operation("module_checks", "GET", "/modules/{name}/checks", adding.checks),
    Operation("archive_module", "POST", "/modules/{name}/archive", catalogue.archive),
    Operation("restore_module", "POST", "/modules/{name}/restore", catalogue.restore),
)

router = APIRouter(tags=["knowledge base"])
add_routes(router, OPERATIONS)
