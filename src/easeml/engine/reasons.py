"""Why a program ended, in a line: the exception at the end of what it wrote."""

import re

_TRACEBACK = "Traceback (most recent call last):"
_OWN = re.compile(r"^easeml\.errors\.\w+: ")  # its message is a sentence already
_LONGEST = 500  # characters


def reason_in(log: str) -> str:
    """Return the line that says why a program ended; empty where it wrote nothing.

    That is the line of the last exception whose traceback ``log`` has, and else its last line. The
    calls that led there stay in the log.
    """
    lines = log.strip().splitlines()
    if not lines:
        return ""
    begins = [place for place, line in enumerate(lines) if line.strip() == _TRACEBACK]
    last = lines[-1]
    if begins:
        after = lines[begins[-1] + 1 :]
        last = next((line for line in after if line and not line.startswith(" ")), last)
    return _OWN.sub("", last.strip())[:_LONGEST]
