"""Passwords, as commands ask for them."""

import sys

import typer

from easeml.errors import InvalidInput


def read_password(prompt: str, from_stdin: bool, *, confirm: bool = False) -> str:
    """Return a password from a line of standard input, or asked for without showing it.

    It is read from standard input as well where this is no terminal. Raises ``InvalidInput`` where
    there is none.
    """
    if not from_stdin and sys.stdin.isatty():
        return typer.prompt(prompt, hide_input=True, confirmation_prompt=confirm)
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise InvalidInput(
            "There is no password on standard input.", remedy="Write it on a line of its own."
        )
    return line
