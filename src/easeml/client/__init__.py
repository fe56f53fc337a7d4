"""The Python SDK: ``Client`` and its asynchronous twin ``AsyncClient``, over the REST API only."""

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

__all__ = [
    "AsyncClient",
    "Client",
    "Credentials",
    "Milestone",
    "credentials_file",
    "find_credentials",
    "has_reached",
    "made_request",
    "save_credentials",
]


def __getattr__(name: str) -> object:
    """Load the asynchronous client when it is first asked for: no command needs it."""
    if name != "AsyncClient":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from easeml.client._async.client import AsyncClient

    return AsyncClient
