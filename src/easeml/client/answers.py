"""Bodies: what is sent is checked before it leaves, what comes back is read into the contract's
types.
"""

import uuid
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from easeml.client.apart import difference
from easeml.errors import InvalidInput, Unreachable

M = TypeVar("M", bound=BaseModel)

_NO_SERVICE = "Check that EASEML_URL is the address of an easeml service of this version."


def made_request(model: type[M], **fields: Any) -> M:
    """Return a request of type ``model``.

    Raises InvalidInput naming the field that does not fit.
    """
    try:
        return model(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidInput(f"{first['msg']}.", where=place) from error


def read_answer(model: type[M], response: httpx.Response) -> M:
    """Return the body as a ``model``.

    Raises Unreachable where it is none: then it is not easeml that answers.
    """
    try:
        return model.model_validate_json(response.content)
    except ValidationError as error:
        raise Unreachable(
            f"The answer is not a valid {model.__name__} ({error.error_count()} errors).",
            where=str(response.request.url),
            remedy=difference(response) or _NO_SERVICE,
        ) from error


def new_idempotency_key() -> str:
    """Return a fresh key for a creation, so that it can be sent twice and is done once."""
    return uuid.uuid4().hex
