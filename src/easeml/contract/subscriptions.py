"""The REST types of notifications that are sent elsewhere."""

from pydantic import Field

from easeml.contract.resources import Answer, Request
from easeml.contract.states import SubscriptionState, SubscriptionWay
from easeml.contract.times import Moment


class NewSubscription(Request):
    """Notifications that are to be sent to an address.

    ``way``: ``webhook``, an ``https`` or ``http`` address to which each is posted, or ``mail``.
    ``kinds``: of events, such as ``promotion.live``, or what stands before the dot of several;
    empty: all that the page of notifications has. ``application_id``: only what concerns it; empty:
    all. ``quiet``: the hours of the day (UTC) from which and until which no mail is sent.
    """

    way: SubscriptionWay
    address: str = Field(min_length=3, max_length=2000)
    kinds: list[str] | None = Field(None, max_length=50)
    application_id: str = Field("", max_length=100)
    quiet: list[int] | None = Field(None, max_length=2)


class Confirmation(Request):
    """The code that was mailed to an address."""

    code: str = Field(min_length=1, max_length=100)


class SecretRenewal(Request):
    """A new secret for what is posted. ``overlap_hours``: how long the old one signs as well."""

    overlap_hours: float = Field(24.0, ge=0.0, le=720.0)


class Subscription(Answer):
    """Notifications that are sent elsewhere.

    ``secret`` signs what is posted; it is told once, when the subscription is made or the secret
    renewed. ``failures``: tries since something arrived, with the ``error`` of the last; ``next_try`` and ``last_sent``
    are times, null where there is none.
    """

    id: str
    way: SubscriptionWay
    address: str
    kinds: list[str]
    application_id: str
    quiet: list[int]
    state: SubscriptionState
    secret: str = ""
    failures: int
    error: str
    next_try: Moment | None
    last_sent: Moment | None
    created: Moment
