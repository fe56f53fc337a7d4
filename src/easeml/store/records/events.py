"""What happened, and where it is told."""

from dataclasses import dataclass, field

from easeml.contract.states import SubscriptionState, SubscriptionWay
from easeml.store.shapes import Json


@dataclass(frozen=True, slots=True)
class Event:
    """Something a user may want to know. ``seq`` grows without a reader ever missing one."""

    seq: int
    tenant_id: str
    kind: str
    subject: str
    data: Json
    created: float = 0.0

    @property
    def job_id(self) -> str:
        """The job that it is about; empty where it is about none."""
        if self.kind.startswith("job."):
            return self.subject
        return self.data.get("job_id") or ""

    @property
    def application_id(self) -> str:
        """The application that it concerns; empty where it names none."""
        return self.data.get("application_id") or ""


@dataclass(frozen=True, slots=True)
class Subscription:
    """Notifications of a tenant that are sent elsewhere, for the person who asked for it.

    ``kinds``: of events, or what stands before the dot of several. ``application_id``: only what
    concerns it; empty: all. ``secret``: signs what is posted, or the code that confirms an address
    of mail, until it does. ``quiet``: the hours (UTC) from which and until which no mail is sent.
    ``old_secret``: signs as well until ``old_secret_until``. ``seq``: the last event that was sent.
    ``failing_since``, ``next_try``: 0 where nothing failed.
    """

    id: str
    tenant_id: str
    user_id: str
    way: SubscriptionWay
    address: str
    kinds: list[str]
    application_id: str
    secret: str
    seq: int
    state: SubscriptionState
    quiet: list[int] = field(default_factory=list)
    failures: int = 0
    failing_since: float = 0.0
    next_try: float = 0.0
    error: str = ""
    last_sent: float = 0.0
    created: float = 0.0
    old_secret: str = ""
    old_secret_until: float = 0.0

    def secrets_at(self, now: float) -> list[str]:
        """Return the secrets that sign at a time: the newest first."""
        if now < self.old_secret_until:
            return [self.secret, self.old_secret]
        return [self.secret]
