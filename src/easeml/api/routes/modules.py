"""The knowledge base: what can be plugged in, adding to it, and archiving."""

from typing import Literal

from fastapi import APIRouter

from easeml.api.context import Asker, Here
from easeml.api.operations import Operation, add_routes
from easeml.contract.knowledge import KnowledgeBase
from easeml.service.modules import adding, catalogue

OPERATIONS = (
    Operation("knowledge_base", "GET", "/modules", catalogue.get),
    Operation("module_titles", "GET", "/modules/titles", catalogue.titles),
    Operation("add_module", "POST", "/modules", adding.add, status=201),
    Operation("share_module", "POST", "/modules/{name}/share", catalogue.share),
    Operation("module_checks", "GET", "/modules/{name}/checks", adding.checks),
)

router = APIRouter(tags=["knowledge base"])
add_routes(router, OPERATIONS)


@router.post("/modules/{name}/{action}")
def change_module(
    here: Here, asker: Asker, name: str, action: Literal["archive", "restore"]
) -> KnowledgeBase:
    """Let no new search try a model, or let them again.

    Its trained models stay. Of their own private modules, everybody may archive and restore.
    """
    return catalogue.set_archived(here.store, asker, name, action == "archive")
