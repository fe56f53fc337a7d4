"""For providers: the people of this easeml, and its processes."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.errors import NotAllowed
from easeml.web.visit import Visit, back_to, signed_in


@signed_in
async def show(visit: Visit) -> Response:
    """Show users and running processes."""
    _check(visit)
    users = [user async for user in visit.client.users()]
    return visit.render("admin.html", users=users, service=await visit.client.status())


@signed_in
async def create_user(visit: Visit) -> Response:
    """Make a user with a tenant of his own."""
    form = await visit.form()
    await visit.client.create_user(str(form.get("name", "")).strip(), str(form.get("password", "")))
    return back_to("/admin")


@signed_in
async def set_password(visit: Visit) -> Response:
    """Give a user who forgot his password a new one."""
    form = await visit.form()
    await visit.client.change_password(visit.path("user"), str(form.get("new", "")))
    return back_to("/admin")


def _check(visit: Visit) -> None:
    if visit.user.role != "provider":
        raise NotAllowed("This page is for providers.", remedy="Ask the one who runs this easeml.")


routes = [
    Route("/admin", show),
    Route("/admin/users", create_user, methods=["POST"]),
    Route("/admin/users/{user}/password", set_password, methods=["POST"]),
]
