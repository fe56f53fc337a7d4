"""The settings of an application: its name, whom it is shared with, and its end."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.states import ShareRole
from easeml.web.page_context import PageContext, back_to, signed_in
from easeml.web.views import application as pages

_HERE = "/applications/{application}"


@signed_in
async def show(context: PageContext) -> Response:
    """Show the name, the people, and what hangs on the application."""
    application = await pages.load(context)
    values = {
        "shares": (await context.client.shares(application.id)).items,
        "dependents": await context.client.dependents(application.id),
        "roles": ShareRole,
    }
    return pages.render(context, application, "application_settings.html", **values)


@signed_in
async def others(context: PageContext) -> Response:
    """Show the applications that others shared, and those that can be restored."""
    shared = await context.client.shared()
    deleted = [one async for one in context.client.deleted_applications()]
    return context.render("others.html", shared=shared.items, deleted=deleted)


@signed_in
async def rename(context: PageContext) -> Response:
    """Give the application another name."""
    form = await context.form()
    await context.client.rename_application(_application(context), str(form.get("name", "")))
    return _back(context)


@signed_in
async def share(context: PageContext) -> Response:
    """Share the application with a person, or no more."""
    form = await context.form()
    role = str(form.get("role", "")) or None
    await context.client.share_application(_application(context), str(form.get("user", "")), role)
    return _back(context)


@signed_in
async def delete(context: PageContext) -> Response:
    """Delete the application; the page that follows offers to restore it."""
    await context.form()  # checks that the page itself asks
    await context.client.delete_application(_application(context))
    return back_to("/others")


@signed_in
async def restore(context: PageContext) -> Response:
    """Take back that the application was deleted."""
    await context.form()
    await context.client.restore_application(_application(context))
    return back_to(f"/applications/{_application(context)}")


def _application(context: PageContext) -> str:
    return context.path("application")


def _back(context: PageContext) -> Response:
    return back_to(f"/applications/{_application(context)}/settings")


routes = [
    Route("/others", others),
    Route(f"{_HERE}/settings", show),
    Route(f"{_HERE}/rename", rename, methods=["POST"]),
    Route(f"{_HERE}/share", share, methods=["POST"]),
    Route(f"{_HERE}/delete", delete, methods=["POST"]),
    Route(f"{_HERE}/restore", restore, methods=["POST"]),
]
