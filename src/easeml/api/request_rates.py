"""How many requests for predictions a second a tenant makes of what it may."""

import asyncio
import math
import time
from collections.abc import Callable
from functools import partial

from easeml.api.remembered import own_threads
from easeml.errors import TooMany
from easeml.service.limits import quotas
from easeml.store import Store

_REMEMBER_SECONDS = 1.0  # how long a limit that another controller changed is not seen here


class RequestRates:
    """A bucket a tenant: it holds what may come within a second, and fills as fast as that.

    So in ``t`` seconds at most ``t + 1`` times the limit are let in (at least one), by each
    controller.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic):
        self._store = store
        self._clock = clock
        self._threads = own_threads()
        self._limits: dict[str, float] = {}
        self._looked = -math.inf
        self._buckets: dict[str, tuple[float, float]] = {}  # what is left, and when that was so

    async def admit(self, tenant_id: str) -> None:
        """Count a request. Raises ``TooMany`` where the tenant has to wait, and counts nothing."""
        if self._clock() - self._looked >= _REMEMBER_SECONDS:
            self._looked = self._clock()
            look = partial(quotas.request_rates, self._store)
            self._limits = await asyncio.get_running_loop().run_in_executor(self._threads, look)
            self._buckets = {id: at for id, at in self._buckets.items() if id in self._limits}
        most = self._limits.get(tenant_id)
        if most is not None:
            self._count(tenant_id, most)

    def _count(self, tenant_id: str, most: float) -> None:
        now = self._clock()
        room = max(1.0, most)
        left, since = self._buckets.get(tenant_id, (room, now))
        left = min(room, left + most * (now - since))
        if left < 1.0:
            text = f"You may ask for predictions {most:g} times a second; this was more."
            raise TooMany(
                text,
                where="requests",
                remedy=f"Send several rows with each request, or wait. {quotas.ASK}",
                seconds=(1.0 - left) / most,
            )
        self._buckets[tenant_id] = left - 1.0, now
