"""Addresses as people may see them."""

import re

_PASSWORD = re.compile(r"(?<=://)([^:/?#]*):.*@")
_IN_QUERY = re.compile(r"(?<=[?&])(\w*(?:pass|secret|token|key)\w*)=[^&#]*", re.IGNORECASE)


def without_secrets(address: str) -> str:
    """Return an address with ``***`` in the place of its password, and of secrets in its query.

    Whatever is no address stays as it is: what is shown may be what somebody typed wrong.
    """
    shown = _PASSWORD.sub(r"\1:***@", address)
    return _IN_QUERY.sub(r"\1=***", shown)
