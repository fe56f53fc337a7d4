"""What candidates are called on pages: by the titles of their models."""

import time

from easeml.client import AsyncClient

_FRESH_SECONDS = 60.0  # a model that is added has its title that much later


class Titles:
    """Titles of models by their names; asked for again after a minute."""

    def __init__(self) -> None:
        self._titles: dict[str, str] = {}
        self._due = 0.0

    async def keep_fresh(self, client: AsyncClient) -> None:
        """Ask for the titles where they are not known, or not new."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + _FRESH_SECONDS
        self._titles = (await client.module_titles()).titles

    def of(self, name: str) -> str:
        """Return ``Random forest 2`` for ``random-forest-classifier-2``; other names as they are."""
        if name in self._titles:
            return self._titles[name]
        model, _, number = name.rpartition("-")
        if number.isdecimal() and model in self._titles:
            return f"{self._titles[model]} {number}"
        return name
