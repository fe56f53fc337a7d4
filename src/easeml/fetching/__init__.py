"""Fetching data from where it lies: an address of the web, a bucket, a query on a database.

Only bytes are moved here. What they mean is read later, by a confined task.
"""

from easeml.fetching.connections import Connection, read_connections
from easeml.fetching.origin import Origin, read_origin
from easeml.fetching.taking import Fetched, Grant, fetch

__all__ = [
    "Connection",
    "Fetched",
    "Grant",
    "Origin",
    "fetch",
    "read_connections",
    "read_origin",
]
