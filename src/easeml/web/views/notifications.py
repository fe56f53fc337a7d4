"""What easeml tells the visitor by itself."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.web.page_context import PageContext, back_to, signed_in


@signed_in
async def show(context: PageContext) -> Response:
    """Show the newest notifications."""
    return context.render("notifications.html", found=await context.client.notifications())


@signed_in
async def mark_read(context: PageContext) -> Response:
    """Take all that was shown as read."""
    seq = str((await context.form()).get("seq", ""))
    await context.client.mark_read(
        int(seq) if seq.isascii() and seq.isdecimal() and len(seq) < 19 else 0
    )
    return back_to("/notifications")


routes = [
    Route("/notifications", show),
    Route("/notifications/read", mark_read, methods=["POST"]),
]
