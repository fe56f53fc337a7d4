"""Server-sent events, as the WHATWG HTML standard (section 9.2.6) describes their lines."""

from pydantic import ValidationError

from easeml.contract.status import Event
from easeml.errors import Unreachable


class EventParser:
    """Turns the lines of a stream into events.

    The data of each message is one ``Event`` as JSON.
    """

    def __init__(self) -> None:
        self._data: list[str] = []

    def feed(self, line: str) -> Event | None:
        """Take one line without its end; return the event that it completes, if it completes one.

        Raises Unreachable where the data is no event: then it is not easeml that answers.
        """
        if line:
            name, _, value = line.partition(":")
            if name == "data":
                self._data.append(value.removeprefix(" "))
            return None
        data, self._data = "\n".join(self._data), []
        if not data:
            return None
        try:
            return Event.model_validate_json(data)
        except ValidationError as error:
            raise Unreachable(
                f"The stream of events holds something else: {data[:200]!r}."
            ) from error
