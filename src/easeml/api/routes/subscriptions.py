"""Notifications that are sent elsewhere."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.events import subscriptions

_PATH = "/subscriptions"
_ONE = f"{_PATH}/{{subscription_id}}"

OPERATIONS = (
    Operation("subscribe", "POST", _PATH, subscriptions.subscribe, status=201, repeatable=False),
    Operation("subscriptions", "GET", _PATH, subscriptions.list_page),
    Operation(
        "confirm_subscription",
        "POST",
        f"{_ONE}/confirm",
        subscriptions.confirm,
        repeatable=False,
    ),
    Operation("try_subscription", "POST", f"{_ONE}/test", subscriptions.try_out, repeatable=False),
    Operation(
        "renew_subscription_secret",
        "POST",
        f"{_ONE}/secret",
        subscriptions.renew_secret,
        repeatable=False,
    ),
    Operation("unsubscribe", "DELETE", _ONE, subscriptions.unsubscribe, repeatable=False),
)

router = APIRouter(tags=["accounts"])
add_routes(router, OPERATIONS)
