"""Posting a notification to an address that somebody named.

The body is a CloudEvent in JSON (CloudEvents 1.0.2, structured content mode); headers and signature
are those of Standard Webhooks 1.0.0: ``webhook-id`` stays the same when a message is sent again.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import httpcore

from easeml.contract.notifications import Notification
from easeml.errors import Unreachable
from easeml.fetching.guard import Guarded
from easeml.service.events.subscriptions import SECRET_PREFIX

_SECONDS = 10.0  # for all of a message and its answer
_NOT_TAKEN = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    httpcore.UnsupportedProtocol,
)
_TYPES = "easeml."  # what kinds of events are called outside


class Webhooks:
    """Posts to addresses of the internet, and to the hosts of one's own network that may be."""

    def __init__(self, source: str, own_hosts: frozenset[str] = frozenset()):
        """``source``: of the events, the address of this easeml. ``own_hosts``: names of hosts."""
        self._source = source
        # A connection a message, each of which ends: who answers slowly holds up nobody for long.
        backend = Guarded(own_hosts, _SECONDS)
        self._pool = httpcore.ConnectionPool(network_backend=backend, max_keepalive_connections=0)

    def post(self, address: str, secrets: Sequence[str], note: Notification, now: float) -> None:
        """Post a notification, signed with each of ``secrets``. Redirects are not followed.

        Raises ``NotAllowed`` for an address in one's own network, ``Unreachable`` where the other
        side does not take it.
        """
        body = json.dumps(cloud_event(note, self._source)).encode()
        headers = {
            "content-type": "application/cloudevents+json; charset=utf-8",
            "user-agent": "easeml",
            **signed(secrets, f"evt_{note.seq}", int(now), body),
        }
        timeouts = {"connect": _SECONDS, "pool": _SECONDS}
        try:
            with self._pool.stream(
                "POST",
                address,
                headers=list(headers.items()),
                content=body,
                extensions={"timeout": timeouts},
            ) as answer:
                status = answer.status  # what else it says is not read
        except _NOT_TAKEN as error:
            why = str(error) or type(error).__name__
            raise Unreachable(f"It could not be posted: {why}.", where=address) from error
        if not 200 <= status < 300:
            raise Unreachable(f"The answer was {status}.", where=address)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()


def cloud_event(note: Notification, source: str) -> dict[str, Any]:
    """Return a notification as a CloudEvent."""
    return {
        "specversion": "1.0",
        "id": str(note.seq),
        "source": source,
        "type": f"{_TYPES}{note.kind}",
        "subject": note.subject,
        "time": datetime.fromtimestamp(note.created, UTC).isoformat(),
        "datacontenttype": "application/json",
        "data": {**note.data, "about": note.name, "text": note.text},
    }


def signed(secrets: Sequence[str], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """Return the headers of Standard Webhooks: who sends it, when, and that it is unchanged.

    A message with several signatures is genuine where one of them is.
    """
    content = f"{message_id}.{timestamp}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join([_signature(secret, content) for secret in secrets]),
    }


def _signature(secret: str, content: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    return f"v1,{base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()}"
