"""The provider's named connections to databases and buckets: the one place that holds secrets.

They are a file, ``connections.toml`` in the home. No request, task, event or log carries what is in
it; only the process that fetches is handed the one connection that it needs.

    [warehouse]
    url = "postgresql://reader:secret@db.lab/measurements"
    tenants = ["physics"]        # names or ids; ["*"]: all

    [reports]
    url = "s3://bucket/prefix"
    access_key_id = "..."
    secret_access_key = "..."
    tenants = ["*"]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from easeml.errors import InvalidInput, NotAllowed
from easeml.fetching.origin import Origin


class Connection(BaseModel):
    """A way to a database or a bucket. ``tenants``: names or ids of those who may use it."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str = Field(repr=False)
    tenants: list[str]
    access_key_id: str = Field(default="", repr=False)
    secret_access_key: str = Field(default="", repr=False)
    endpoint: str = ""
    region: str = ""


def read_connections(home: Path) -> dict[str, Connection]:
    """Return the connections of a home by name; raises ``InvalidInput`` for a file that is none.

    No message has a value of the file in it.
    """
    path = home / "connections.toml"
    if not path.exists():
        return {}
    try:
        written = tomllib.loads(path.read_text("utf-8"))
        return {name: Connection.model_validate(one) for name, one in written.items()}
    except tomllib.TOMLDecodeError as error:
        raise _unreadable("it is not TOML") from error
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, wrong["loc"]))
        raise _unreadable(": ".join(filter(None, [place, wrong["msg"]]))) from None


def connection_for(
    origin: Origin, connections: Mapping[str, Connection], tenant: tuple[str, ...]
) -> Connection | None:
    """Return the connection that leads to ``origin``; None where it needs none.

    ``tenant``: id and name. Raises ``NotAllowed`` where there is none for this tenant; who may not
    use one is not told that it is there.
    """
    if origin.is_web:
        return None
    for name, connection in connections.items():
        is_allowed = not {"*", *tenant}.isdisjoint(connection.tenants)
        if is_allowed and _leads_to(name, connection, origin):
            return connection
    raise NotAllowed(
        "There is no connection that leads there.",
        where=origin.address,
        remedy="Ask your provider to add one to connections.toml.",
    )


def _leads_to(name: str, connection: Connection, origin: Origin) -> bool:
    held = urlsplit(connection.url)
    wanted = origin.parts
    if held.scheme.partition("+")[0] != wanted.scheme:
        return False
    if wanted.scheme != "s3":
        return name == wanted.netloc
    if held.netloc != wanted.netloc:
        return False
    prefix = held.path.strip("/")
    return not prefix or wanted.path.strip("/").startswith(f"{prefix}/")


def _unreadable(why: str) -> InvalidInput:
    return InvalidInput(
        f"The connections cannot be read: {why}.",
        where="connections.toml",
        remedy="The provider has to correct the file.",
    )
