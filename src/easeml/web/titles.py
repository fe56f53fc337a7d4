"""What candidates are called on pages: by the titles of their models."""

import time

from easeml.client import AsyncClient
from easeml.contract import knowledge as contract

_FRESH_SECONDS = 60.0  # a model that is added has its title that much later


class Titles:
    """Titles of models by their names; asked for again after a minute."""

    def __init__(self) -> None:
        self._titles = contract.Titles(titles={})
        self._due = 0.0

    async def keep_fresh(self, client: AsyncClient) -> None:
        """Ask for the titles where they are not known, or not new."""
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + _FRESH_SECONDS
        self._titles = await client.module_titles()

    def of(self, name: str) -> str:
        """Return ``Random forest 2`` for ``random-forest-classifier-2``; other names as they are."""
        return self._titles.of(name)

    def in_text(self, text: str) -> str:
        """Return a text in which every candidate is called by its title."""
        return self._titles.in_text(text)

    def in_sentence(self, sentence: str, *names: str) -> str:
        """Return a sentence in which candidates are called by their titles."""
        return self._titles.in_sentence(sentence, *names)
