"""Puts the controller's application together."""

from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute
from starlette.types import Receive, Scope, Send

from easeml.api import openapi, predict
from easeml.api import protocol_routes as protocols
from easeml.api.context import Context, Predictor
from easeml.api.gate import Gate
from easeml.api.log_writer import Keep
from easeml.api.metrics import Measured
from easeml.api.problems import handle
from easeml.api.request_limits import RequestLimits
from easeml.api.routes import all_resources, datasets, status
from easeml.errors import EasemlError
from easeml.protocols.errors import INVOCATIONS
from easeml.settings import Settings
from easeml.store import Store
from easeml.version import __version__

_RESOURCES = all_resources()
OPERATIONS = [one for resource in _RESOURCES for one in getattr(resource, "OPERATIONS", ())]
"""What the API offers by description alone."""

_PREFIX = "/api/v1"
_PREDICTING = ("/predict", "/infer", INVOCATIONS)
_FILES = ("/feed", "/histories", "/imports", "/predictions", "/replace")  # whose body is a file
_SMALL = 2**20  # bytes of any body but uploads and prediction requests


def _routes() -> list[BaseRoute]:
    """Return the routes of all resources, which keep nothing of an application, with what FastAPI
    makes of them.

    It would do so when it is first asked, anew in each process and for each application: a third of
    a second.
    """
    made = APIRouter()
    # Straight into one router: each between them would build all routes once more.
    for resource in _RESOURCES:
        made.include_router(resource.router, prefix=_PREFIX)
    made.include_router(protocols.mlflow, prefix=_PREFIX)
    made.include_router(status.health)
    made.include_router(protocols.v2)
    deque(iter_route_contexts(made.routes), maxlen=0)
    return made.routes


_ROUTES = _routes()


class _Api(FastAPI):
    """The REST application. What all predictions pay for, they do not go through: FastAPI's own
    middleware and routing, which cost as much as a small model.
    """

    def __init__(self, limit_of: Callable[[Scope], int], **named: Any):
        super().__init__(**named)
        self.add_middleware(Gate)
        self.add_middleware(RequestLimits, limit_of=limit_of)
        self.add_middleware(Measured)  # outermost: added last
        self._predictions = predict.Predictions()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if predict.is_asked_for(scope):
            scope["app"] = self
            await self._predictions(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def create_app(
    store: Store, settings: Settings, predictor: Predictor, keep: Keep | None = None
) -> FastAPI:
    """Return the REST application over ``store``; predictions are forwarded to ``predictor``.

    ``keep``: writes the log of requests, by default in this process.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        await app.state.context.fanout.close()
        await to_thread.run_sync(app.state.context.log.close)

    app = _Api(
        limit_of=_limit_of(settings),
        title="easeml",
        version=__version__,
        description="From a table to a served model.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
        exception_handlers=dict.fromkeys(
            (EasemlError, HTTPException, RequestValidationError), handle
        ),
    )
    app.state.context = Context.over(store, settings, predictor, keep)
    app.router.routes.insert(0, predict.ROUTE)
    app.router.routes.extend(_ROUTES)
    app.openapi = lambda: openapi.document(app)
    return app


def _limit_of(settings: Settings) -> Callable[[Scope], int]:
    def limit_of(scope: Scope) -> int:
        """Return the largest body that a request may have, in bytes."""
        path: str = scope["path"]
        if path == datasets.UPLOAD_PATH or "/uploads/" in path or path.endswith(_FILES):
            return settings.upload_limit
        return settings.request_limit if path.endswith(_PREDICTING) else _SMALL

    return limit_of
