"""The body of a request as JSON: read once, refused alike by every protocol."""

import json
from typing import Any

from easeml.errors import InvalidInput


def name_of(told: Any, message: str, where: str) -> str:
    """Return the name in a JSON object. Raises ``InvalidInput`` with ``message`` where none is."""
    match told:
        case {"name": str(name)}:
            return name
    raise InvalidInput(message, where=where)


def read_json(text: bytes) -> Any:
    """Return the JSON value of a body. Raises ``InvalidInput`` where it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"The body is not JSON: {error}.", where="body") from error
