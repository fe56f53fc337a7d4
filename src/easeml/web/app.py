"""Puts the pages together."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from easeml.errors import EasemlError, NotFound
from easeml.web import forward, views
from easeml.web.forward import UPLOADS_PATH
from easeml.web.page_context import Site, problem_page
from easeml.web.rendering import STATIC, static_path

__all__ = ["UPLOADS_PATH", "create_pages"]


def create_pages(api: ASGIApp) -> Starlette:
    """Return the pages over ``api``, the REST application.

    They call it in this process with the visitor's key.
    """
    site = Site(api)
    pages = Starlette(
        routes=[
            Mount(
                static_path(), _Static(directory=STATIC, packages=[("easeml.figures", "static")])
            ),
            Route("/live", forward.live),
            Route("/applications/{application}/live", forward.application),
            Route("/tasks/{task}/predictions", forward.predictions),
            Route("/tasks/{task}/trace", forward.trace),
            *_uploads(UPLOADS_PATH),
            *_uploads("/applications/{application}" + UPLOADS_PATH),
            Route("/new/upload", forward.make_dataset, methods=["POST"]),
            Route("/applications/{application}/feed", forward.feed, methods=["POST"]),
            Route("/applications/{application}/replace", forward.replace, methods=["POST"]),
            Route("/applications/{application}/predictions", forward.predict, methods=["POST"]),
            *views.routes,
        ],
        exception_handlers={EasemlError: problem_page, HTTPException: _http_problem},
    )
    pages.state.site = site
    pages.state.menu = views.menu
    return pages


def _uploads(path: str) -> list[Route]:
    """Return the routes of files that browsers send in pieces."""
    return [
        Route(path, forward.begin_upload, methods=["POST"]),
        Route(path + "/{upload}", forward.go_on, methods=["HEAD", "PATCH", "DELETE"]),
    ]


class _Static(StaticFiles):
    """The files of the pages; their address changes with them, so they may be kept for ever."""

    def file_response(self, *args: object, **named: object) -> Response:
        answer = super().file_response(*args, **named)  # type: ignore[arg-type]
        answer.headers["cache-control"] = "public, max-age=31536000, immutable"
        return answer


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return await problem_page(
            request, NotFound("There is no such page.", where=request.url.path)
        )
    return Response(error.detail, error.status_code, error.headers, "text/plain")
