"""Applications over the years."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.applications import deleting, keeping, shares

_HERE = "/applications/{application_id}"

OPERATIONS = (
    Operation("rename_application", "POST", f"{_HERE}/rename", keeping.rename),
    Operation("dependents", "GET", f"{_HERE}/dependents", deleting.dependents),
    Operation("delete_application", "DELETE", _HERE, deleting.delete),
    Operation("restore_application", "POST", f"{_HERE}/restore", deleting.restore),
    Operation("deleted_applications", "GET", "/deleted", deleting.list_deleted),
    Operation("share_application", "POST", f"{_HERE}/share", shares.share),
    Operation("shares", "GET", f"{_HERE}/shares", shares.list_shares),
    Operation("shared", "GET", "/shared", shares.shared_with_me),
)

router = APIRouter(tags=["applications"])
add_routes(router, OPERATIONS)
