"""The Python SDK: ``Client`` and its asynchronous twin ``AsyncClient``, over the REST API only."""

from importlib import import_module
from typing import TYPE_CHECKING

from easeml.client._sync.client import Client
from easeml.client.answers import made_request
from easeml.client.credentials import (
    Credentials,
    credentials_file,
    find_credentials,
    save_credentials,
)
from easeml.client.waiting import Milestone, has_reached

if TYPE_CHECKING:
    from easeml.client._async.client import AsyncClient
    from easeml.client.progress_bar import ProgressBar

__all__ = [
    "AsyncClient",
    "Client",
    "Credentials",
    "Milestone",
    "ProgressBar",
    "credentials_file",
    "find_credentials",
    "has_reached",
    "made_request",
    "save_credentials",
]

_LATER = {
    "AsyncClient": "easeml.client._async.client",
    "ProgressBar": "easeml.client.progress_bar",
}


def __getattr__(name: str) -> object:
    """Load what most commands do not need when it is first asked for."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
