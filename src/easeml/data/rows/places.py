"""How messages name the rows of a request or a file."""

from collections.abc import Callable, Sequence

Place = Callable[[int], str]  # of a row, from 0, of the part that is read


def places(start: int = 0, names: Sequence[str] = ()) -> Place:
    """What names the rows of a part that begins with row ``start``; ``names``: of a file a row."""

    def place(row: int) -> str:
        number = f"row {start + row}"
        return f"{number} ({names[row]})" if names else number

    return place
