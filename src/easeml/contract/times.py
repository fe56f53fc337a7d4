"""How the wire writes times."""

from typing import Annotated, get_args, get_type_hints

from pydantic import BaseModel, Field

Moment = Annotated[float, Field(description="seconds since 1970-01-01 00:00 UTC")]


def is_moment(resource: type[BaseModel], field: str) -> bool:
    """Return whether a field of a resource is a ``Moment``, or may be one."""
    described = get_type_hints(resource, include_extras=True)[field]
    return described == Moment or Moment in get_args(described)
