"""The knowledge base: what can be plugged in."""

from fastapi import APIRouter

from easeml.api.context import Asker, Here
from easeml.contract.resources import Module, Page
from easeml.service import modules

router = APIRouter(prefix="/modules", tags=["modules"])


@router.get("")
def list_modules(here: Here, asker: Asker) -> Page[Module]:
    """List all modules with where they fit and how they have done, on one page."""
    return Page(items=modules.list_all(here.store))
