"""What every route stands on, and the parameters that many routes share."""

from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Protocol, Self, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Header, Query, Request

from easeml.api.authentication import Authenticator
from easeml.api.doors import Doors
from easeml.api.event_fanout import EventFanout
from easeml.api.log_writer import Keep
from easeml.api.metrics import RequestMetrics
from easeml.api.request_log import RequestLog
from easeml.api.request_rates import RequestRates
from easeml.api.sign_in_throttle import SignInThrottle
from easeml.api.tenant_slots import TenantSlots
from easeml.openid import IdentityProvider, provider_of
from easeml.protocols.answered import Answered
from easeml.service.access.caller import Caller
from easeml.service.administration.health import HealthCheck
from easeml.settings import Settings
from easeml.store import Store

T = TypeVar("T")


class Predictor(Protocol):
    """Where predictions come from."""

    async def predict(
        self, tenant_id: str, application_id: str, content_type: str, body: bytes
    ) -> Answered:
        """Return the answer; raises ``NotReady``."""
        ...


@dataclass(frozen=True)
class Context:
    """One controller's parts. The limiters bound memory and threads that strangers could use up."""

    store: Store
    settings: Settings
    predictor: Predictor
    authenticator: Authenticator
    fanout: EventFanout
    health: HealthCheck
    log: RequestLog
    doors: Doors
    rates: RequestRates
    hashing: CapacityLimiter = field(
        default_factory=lambda: CapacityLimiter(2)
    )  # 64 MiB a password
    uploads: TenantSlots = field(default_factory=TenantSlots)
    sign_ins: SignInThrottle = field(default_factory=SignInThrottle)
    requests: RequestMetrics = field(default_factory=RequestMetrics)
    identity_provider: IdentityProvider | None = None

    @classmethod
    def over(
        cls, store: Store, settings: Settings, predictor: Predictor, keep: Keep | None = None
    ) -> Self:
        """Return the parts of a controller over ``store``.

        ``keep``: writes the log of requests, by default in this process.
        """
        health = HealthCheck(store, settings)
        fanout = EventFanout(store)
        log = RequestLog(store, keep)
        return cls(
            store,
            settings,
            predictor,
            Authenticator(store),
            fanout,
            health,
            log,
            Doors(store),
            RequestRates(store),
            identity_provider=provider_of(settings),
        )

    async def hash(self, call: Any, *args: Any, **named: Any) -> Any:
        """Return ``call(...)``, a use case that hashes a password, from a thread; few run at once."""
        return await to_thread.run_sync(partial(call, *args, **named), limiter=self.hashing)


async def _context(request: Request) -> Context:
    return request.app.state.context


async def _caller(request: Request) -> Caller:
    return request.state.caller


Here = Annotated[Context, Depends(_context)]
Asker = Annotated[Caller, Depends(_caller)]
After = Annotated[str | None, Query(max_length=100, description="`next` of the page before")]
OfJob = Annotated[str | None, Query(max_length=100, description="of this job only")]
OfApplication = Annotated[str | None, Query(max_length=100, description="of this application only")]
Limit = Annotated[int, Query(ge=1, le=200, description="items on a page")]
NewestFirst = Annotated[bool, Query(description="the newest first instead of the oldest")]
OnceKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="the same key with the same request makes one thing only and gives the first answer again",
    ),
]
