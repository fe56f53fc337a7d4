"""What easeml tells the visitor by itself."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.web.visit import Visit, back_to, signed_in


@signed_in
async def show(visit: Visit) -> Response:
    """Show the newest notifications."""
    return visit.render("notifications.html", found=await visit.client.notifications())


@signed_in
async def mark_read(visit: Visit) -> Response:
    """Take all that was shown as read."""
    seq = str((await visit.form()).get("seq", ""))
    await visit.client.mark_read(
        int(seq) if seq.isascii() and seq.isdecimal() and len(seq) < 19 else 0
    )
    return back_to("/notifications")


routes = [
    Route("/notifications", show),
    Route("/notifications/read", mark_read, methods=["POST"]),
]
