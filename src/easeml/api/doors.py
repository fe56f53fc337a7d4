"""Which applications answer, and whom else than their tenant they answer.

Asked before every request that names an application or something of one. What is remembered are
deletions and shares alone, which are few; tenants that have none cost no look at the database.
"""

import asyncio
from functools import partial

from easeml.api.remembered import Remembered, own_threads
from easeml.service.access import sharing
from easeml.service.access.caller import Caller
from easeml.store import Store


class Doors:
    """Lets callers in to applications: those of their tenant, and those shared with them."""

    def __init__(self, store: Store):
        self._store = store
        self._threads = own_threads()
        self._known: Remembered[sharing.Known] = Remembered(self._threads)

    async def admit(self, caller: Caller, asked: sharing.Asked) -> Caller:
        """Return as whom the caller acts; raises ``NotFound``, ``NotAllowed``."""
        known = await self._known.get("all", partial(sharing.look, self._store))
        if not (caller.is_limited or known.concerns(caller)):
            return caller
        look = partial(sharing.admit, self._store, known, caller, asked)
        return await asyncio.get_running_loop().run_in_executor(self._threads, look)

    def forget(self) -> None:
        """Look anew: something was deleted, restored or shared."""
        self._known.forget()
