"""Printing what becomes of data that is fetched again."""

import time

from easeml.cli.output import say
from easeml.client import Client
from easeml.contract.sources import Retrieval
from easeml.contract.states import RetrievalState
from easeml.errors import Conflict

_LOOK_SECONDS = 0.5


def wait_retrieval(client: Client, retrieval: Retrieval) -> Retrieval:
    """Return a retrieval when it ended. Raises ``Conflict`` saying why it failed."""
    while retrieval.state == RetrievalState.RUNNING:
        time.sleep(_LOOK_SECONDS)
        retrieval = client.retrieval(retrieval.id)
    if retrieval.state == RetrievalState.FAILED:
        raise Conflict(
            retrieval.note, where=retrieval.dataset_id, remedy="The last good version stays."
        )
    return retrieval


def print_retrieval(retrieval: Retrieval) -> None:
    """Say what a refresh brought."""
    if retrieval.state == RetrievalState.UNCHANGED:
        say(f"{retrieval.dataset_id} is as it was. {retrieval.note}".rstrip())
    else:
        say(f"{retrieval.dataset_id} has a new version: {retrieval.version_id}.")
