"""Identifiers: a short prefix that names the kind, and a time-ordered random part.

Ids made later sort after ids made earlier (to the millisecond), so a list paged by id is a list in
order of creation, and a cursor is simply the last id seen.
"""

import secrets
import time

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base 32: no i, l, o, u
_TIME_BITS, _RANDOM_BITS = 45, 55


def new_id(prefix: str) -> str:
    """Return a fresh id such as ``app_0e2x7m4kq9d1v5b8ctn3``: 45 bits of milliseconds, 55 random
    bits.
    """
    number = (time.time_ns() // 1_000_000 << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS)
    digits = (_TIME_BITS + _RANDOM_BITS) // 5
    return f"{prefix}_" + "".join(_ALPHABET[number >> 5 * i & 31] for i in reversed(range(digits)))
