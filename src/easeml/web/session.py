"""The session: a cookie with the key that signing in made, and a token that proves a form is ours.

Nothing is kept on the server, so a restart ends no session; revoking the key does.
"""

import hashlib
import hmac
import time
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from easeml.contract.accounts import Key
from easeml.errors import NotAllowed, NotSignedIn

CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf"


def cookie_name(port: int | None) -> str:
    """Return the name of the session's cookie, with the port.

    Cookies go to all ports of a host.
    """
    if not port:
        return "easeml_session"
    return f"easeml_session_{port}"


def key_of(request: Request) -> str:
    """Return the key of the visitor.

    Raises:
        NotSignedIn: without one.
    """
    key = request.cookies.get(cookie_name(request.url.port), "")
    is_key = key and key.isascii() and key.isprintable()
    if not is_key:
        raise NotSignedIn
    return key


def begin(request: Request, response: Response, key: Key) -> None:
    """Keep ``key`` in the visitor's browser until it expires."""
    assert key.secret is not None
    seconds = None
    if key.expires is not None:
        seconds = max(0, int(key.expires - time.time()))
    is_secure = request.url.scheme == "https"
    name = cookie_name(request.url.port)
    response.set_cookie(
        name, key.secret, max_age=seconds, httponly=True, samesite="lax", secure=is_secure
    )


def end(request: Request, response: Response) -> None:
    """Make the browser forget the key."""
    response.delete_cookie(cookie_name(request.url.port), httponly=True, samesite="lax")


def csrf_token(key: str) -> str:
    """Return the token of a session: only who holds the key can know it, and it does not tell the key."""
    return hmac.new(key.encode(), b"easeml form", hashlib.sha256).hexdigest()


def check_csrf(key: str, token: str) -> None:
    """Raise NotAllowed unless ``token`` is that of the session."""
    if not hmac.compare_digest(token.encode(), csrf_token(key).encode()):
        raise NotAllowed(
            "This form is not from your session.", remedy="Reload the page and try again."
        )


def check_origin(request: Request) -> None:
    """Raise NotAllowed for a form that another site sends; browsers say so with every form."""
    origin = request.headers.get("origin", "")
    if not origin:
        return
    if urlsplit(origin).netloc != request.headers.get("host", ""):
        raise NotAllowed(
            "This form comes from another site.",
            remedy="Open easeml's own page. A proxy before easeml has to pass on the header Host, "
            "with the port that people use.",
        )
