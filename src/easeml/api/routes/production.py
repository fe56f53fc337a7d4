"""What production sees: requests that are kept, and what was true of them."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.models import adapting, label_budgets, pickings
from easeml.service.production import feedback, request_log
from easeml.service.versions import told_rows

_OF_APPLICATION = "/applications/{application_id}"

OPERATIONS = (
    Operation("request_log", "GET", f"{_OF_APPLICATION}/requests", request_log.get_log),
    Operation(
        "set_request_log", "PUT", f"{_OF_APPLICATION}/requests", request_log.set_log, whole=True
    ),
    Operation("picking", "GET", f"{_OF_APPLICATION}/picking", pickings.get_picking),
    Operation("set_picking", "PUT", f"{_OF_APPLICATION}/picking", pickings.set_picking, whole=True),
    Operation("pick_now", "POST", f"{_OF_APPLICATION}/picking/now", pickings.pick_now),
    Operation("label_budget", "GET", f"{_OF_APPLICATION}/label-budget", label_budgets.get_budget),
    Operation(
        "set_label_budget",
        "PUT",
        f"{_OF_APPLICATION}/label-budget",
        label_budgets.set_budget,
        whole=True,
    ),
    Operation("adaptation", "GET", f"{_OF_APPLICATION}/adaptation", adapting.get_adaptation),
    Operation(
        "adapt",
        "POST",
        f"{_OF_APPLICATION}/adaptation",
        adapting.adapt,
        repeatable=False,
        whole=True,
    ),
    Operation(
        "give_feedback",
        "POST",
        f"{_OF_APPLICATION}/feedback",
        feedback.give,
        repeatable=False,
        whole=True,
    ),
    Operation(
        "feed_told",
        "POST",
        f"{_OF_APPLICATION}/feed-told",
        told_rows.feed_told,
        status=201,
        repeatable=False,
    ),
)

router = APIRouter(tags=["applications"])
add_routes(router, OPERATIONS)
