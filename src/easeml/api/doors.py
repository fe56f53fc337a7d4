"""Which applications answer, and whom else than their tenant they answer.

Asked before every request that names an application or something of one. What is remembered are
deletions and shares alone, which are few; tenants that have none cost no look at the database.
"""

import math
import time

from starlette.concurrency import run_in_threadpool

from easeml.service.access import sharing
from easeml.service.access.caller import Caller
from easeml.store import Store

_REMEMBER_SECONDS = 1.0  # how long what another controller changed is not seen here


class Doors:
    """Lets callers in to applications: those of their tenant, and those shared with them."""

    def __init__(self, store: Store):
        self._store = store
        self._known: sharing.Known | None = None
        self._looked = -math.inf

    async def admit(self, caller: Caller, asked: sharing.Asked) -> Caller:
        """Return as whom the caller acts; raises ``NotFound``, ``NotAllowed``."""
        known = await self._current()
        if not (caller.is_limited or known.concerns(caller)):
            return caller
        return await run_in_threadpool(sharing.admit, self._store, known, caller, asked)

    def forget(self) -> None:
        """Look anew: something was deleted, restored or shared."""
        self._looked = -math.inf

    async def _current(self) -> sharing.Known:
        begun = time.monotonic()
        if self._known is None or begun - self._looked >= _REMEMBER_SECONDS:
            self._looked = begun
            self._known = await run_in_threadpool(sharing.look, self._store)
        return self._known
