"""Puts the controller's application together."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from anyio import to_thread
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import Scope

from easeml.api import openapi, predict
from easeml.api import protocol_routes as protocols
from easeml.api.authentication import Gate
from easeml.api.context import Context, Predictor
from easeml.api.log_writer import Keep
from easeml.api.metrics import Measured
from easeml.api.problems import handle
from easeml.api.request_limits import RequestLimits
from easeml.api.routes import all_resources, datasets, status, uploads
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

    app = FastAPI(
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
    app.router.routes.insert(0, Route(predict.PATH, predict.predict, methods=["POST"]))
    # Straight into the application: each router between them would build all routes once more.
    for resource in _RESOURCES:
        app.include_router(resource.router, prefix=_PREFIX)
    app.include_router(protocols.mlflow, prefix=_PREFIX)
    app.include_router(status.health)
    app.include_router(protocols.v2)
    app.add_middleware(Gate)
    app.add_middleware(RequestLimits, limit_of=_limit_of(settings))
    app.add_middleware(Measured)  # outermost: added last
    app.openapi = lambda: openapi.document(app)
    return app


def _limit_of(settings: Settings) -> Callable[[Scope], int]:
    def limit_of(scope: Scope) -> int:
        """Return the largest body that a request may have, in bytes."""
        path: str = scope["path"]
        if (
            path == datasets.UPLOAD_PATH
            or path.startswith(f"{uploads.UPLOADS_PATH}/")
            or path.endswith(_FILES)
        ):
            return settings.upload_limit
        return settings.request_limit if path.endswith(_PREDICTING) else _SMALL

    return limit_of
