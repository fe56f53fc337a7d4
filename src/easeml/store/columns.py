"""What a column holds and what a record has: the one place where the two are converted."""

from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from easeml.store.shapes import Json, Shape


class State(sa.TypeDecorator[StrEnum]):
    """A state as text in the database, as a member of its enumeration in a record."""

    impl = sa.Text
    cache_ok = True

    def __init__(self, states: type[StrEnum]):
        super().__init__()
        self.states = states

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:
        """Return the plain text; what is compared may be a string that is no state."""
        return None if value is None else str(value)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> StrEnum | None:
        """Return the state; raises ``ValueError`` for one that this program does not know."""
        return None if value is None else self.states(value)


class Shaped(sa.TypeDecorator[Shape]):
    """A JSON object in the database, a value of its shape in a record."""

    impl = sa.JSON
    cache_ok = True

    def __init__(self, shape: type[Shape]):
        super().__init__()
        self.shape = shape

    def process_bind_param(self, value: Shape | None, dialect: sa.Dialect) -> Json | None:
        """Return the JSON object."""
        return None if value is None else value.to_json()

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> Shape | None:
        """Return the value; raises ``pydantic.ValidationError`` for JSON of another shape."""
        return None if value is None else self.shape.from_json(value)
