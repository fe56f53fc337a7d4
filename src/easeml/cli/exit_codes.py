"""How a command says no."""

import typer


def fail_if(answer_is_no: object) -> None:
    """End the program with exit code 1 where the answer is no; what was printed stays."""
    if answer_is_no:
        raise typer.Exit(1)
