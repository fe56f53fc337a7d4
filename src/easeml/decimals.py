"""Numbers as people write them, with a point or a comma before the decimals."""

import re

from easeml.errors import InvalidInput

_WITH_COMMA = re.compile(r"[-+]?\d*,\d*")
_MAY_BE_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")


def with_point(text: str, where: str) -> str:
    """Return a number with a decimal point in the place of a comma; any other text as it is.

    Raises ``InvalidInput``, which names ``where``, for a comma that may be one of thousands.
    """
    if _MAY_BE_THOUSANDS.fullmatch(text):
        digits = text.replace(",", "")
        decimals = text.replace(",", ".")
        raise InvalidInput(
            f"{text!r} may mean {digits} or {decimals}.",
            where=where,
            remedy=f"Write {digits} or {decimals}.",
        )
    return text.replace(",", ".") if _WITH_COMMA.fullmatch(text) else text
