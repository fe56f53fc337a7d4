"""Applications: declared, watched and steered. Predictions have a route of their own."""

from fastapi import APIRouter, Request
from starlette.responses import StreamingResponse

from easeml.api import change_stream
from easeml.api.context import Asker, Here
from easeml.api.operations import Operation, add_routes
from easeml.service.applications import applications
from easeml.service.search import tryouts
from easeml.service.views import application_view

OPERATIONS = (
    Operation("propose", "POST", "/applications/propose", applications.propose, whole=True),
    Operation(
        "create_application", "POST", "/applications", applications.declare, status=201, whole=True
    ),
    Operation("applications", "GET", "/applications", applications.list_page),
    Operation("application", "GET", "/applications/{application_id}", applications.get),
    Operation(
        "application_view", "GET", "/applications/{application_id}/view", application_view.get
    ),
    Operation(
        "leaderboard",
        "GET",
        "/applications/{application_id}/leaderboard",
        application_view.leaderboard,
    ),
    Operation(
        "serving_history",
        "GET",
        "/applications/{application_id}/history",
        application_view.history,
    ),
    Operation("models", "GET", "/applications/{application_id}/models", applications.models),
    Operation(
        "promotions", "GET", "/applications/{application_id}/promotions", applications.promotions
    ),
    Operation(
        "roll_back",
        "POST",
        "/applications/{application_id}/rollback",
        applications.roll_back,
        repeatable=False,
    ),
    Operation("pin", "POST", "/applications/{application_id}/pin", applications.pin),
    Operation("unpin", "POST", "/applications/{application_id}/unpin", applications.unpin),
    Operation(
        "include_model", "POST", "/applications/{application_id}/include", applications.include
    ),
    Operation("try_model", "POST", "/applications/{application_id}/tryouts", tryouts.try_model),
)

router = APIRouter(tags=["applications"])
add_routes(router, OPERATIONS)


@router.get(
    "/applications/{application_id}/live",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
def stream_application(
    request: Request, here: Here, asker: Asker, application_id: str
) -> StreamingResponse:
    """Stream an event ``application.changed``, which tells nothing more, whenever something happens
    to the tenant of an application.

    For people with whom the application is shared: its tenant's own have more in ``/events``.
    """
    applications.get(here.store, asker, application_id)
    return change_stream.stream(here, request, "application.changed", asker.tenant_id)
