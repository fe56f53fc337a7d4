"""The knowledge base: what can be plugged in, adding to it, and archiving."""

from typing import Literal

from fastapi import APIRouter, status

from easeml.api.context import Asker, Here, OnceKey
from easeml.contract.knowledge import KnowledgeBase, ModuleChecks, NewModule
from easeml.service.modules import adding, catalogue

router = APIRouter(prefix="/modules", tags=["knowledge base"])


@router.get("")
def list_modules(here: Here, asker: Asker) -> KnowledgeBase:
    """Show all modules, where they fit, and how they have done."""
    return catalogue.get(here.store, asker)


@router.post("", status_code=status.HTTP_201_CREATED)
def add_module(here: Here, asker: Asker, wish: NewModule, once: OnceKey = None) -> ModuleChecks:
    """Have a model checked; it joins the knowledge base, and searches that it fits, if it passes
    (providers only).
    """
    return adding.add(here.store, here.settings, asker, wish, once)


@router.get("/{name}/checks")
def get_checks(here: Here, asker: Asker, name: str) -> ModuleChecks:
    """Show how far the checks of an added model are (providers only)."""
    return adding.checks(here.store, here.settings, asker, name)


@router.post("/{name}/{action}")
def change_module(
    here: Here, asker: Asker, name: str, action: Literal["archive", "restore"]
) -> KnowledgeBase:
    """Let no new search try a model, or let them again (providers only); its trained models stay."""
    return catalogue.set_archived(here.store, asker, name, action == "archive")
