"""The Python SDK: ``Client`` and its asynchronous twin ``AsyncClient``, over the REST API only."""

from easeml.client._async.client import AsyncClient
from easeml.client._sync.client import Client
from easeml.client.answers import made_request
from easeml.client.credentials import (
    Credentials,
    credentials_file,
    find_credentials,
    save_credentials,
)
from easeml.client.waiting import Milestone, has_reached

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
