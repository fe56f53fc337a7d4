"""The settings of an application: its name, its rules, whom it is shared with, and its end."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.accounts import Invitation
from easeml.contract.applications import Application
from easeml.contract.objectives import NewObjective, ObjectiveChoice
from easeml.contract.states import ShareRole
from easeml.errors import Conflict
from easeml.web.page_context import PageContext, back_to, listed, signed_in
from easeml.web.permissions import at_home
from easeml.web.views import application as pages
from easeml.web.views import people

_MOST_COLUMNS = 60  # more are named on the command line
_HERE = "/applications/{application}"


@signed_in
async def show(context: PageContext) -> Response:
    """Show the name, the rules, the people, what is kept, and what hangs on the application."""
    return await _show(context)


async def _show(context: PageContext, made: Invitation | None = None) -> Response:
    application = await pages.load(context)
    found = await listed(context.client.application_invitations(application.id))
    leaderboard = await context.client.leaderboard(application.id)
    values = {
        "invitations": people.still_open(found),
        "made": made,
        "link": people.link(context.request, made),
        "lifetimes": people.LIFETIMES,
        "shares": (await context.client.shares(application.id)).items,
        "dependents": await context.client.dependents(application.id),
        "roles": ShareRole,
        "rules": await context.client.model_rules(application.id),
        "followed": _followed(application),
        "objective": await _objective(context, application),
        "retention": await context.client.retention(application.id),
        "models": {model.id: model.name for model in leaderboard.models},
    }
    return pages.render(context, application, "application_settings.html", **values)


async def _objective(context: PageContext, application: Application) -> ObjectiveChoice | None:
    """Return what models are judged by and could be; None before the data is ready."""
    try:
        return await context.client.objective(application.id)
    except Conflict:
        return None


def _followed(application: Application) -> list[str]:
    """Return the columns that a prediction can be asked to follow: inputs that are numbers."""
    found = []
    for name, node in application.schema_in.get("nodes", {}).items():
        is_number = (node["type"], node.get("dim")) == ("tensor", [1])
        if is_number:
            found.append(node.get("column", name))
    return found[:_MOST_COLUMNS]


@signed_in
async def others(context: PageContext) -> Response:
    """Show the applications that others shared, and those that can be restored."""
    shared = await context.client.shared()
    deleted = []
    if at_home(context.user).change:
        deleted = await listed(context.client.deleted_applications())
    return context.render("others.html", shared=shared.items, deleted=deleted)


@signed_in
async def rename(context: PageContext) -> Response:
    """Give the application another name."""
    form = await context.form()
    await context.client.rename_application(_application(context), str(form.get("name", "")))
    return _back(context)


@signed_in
async def change_objective(context: PageContext) -> Response:
    """Judge models by another objective: one of the list, or one that is named."""
    form = await context.form()
    named = str(form.get("named", "")).strip()
    chosen = named or str(form.get("objective", ""))
    wish = NewObjective.model_validate({"objective": chosen})
    await context.client.change_objective(_application(context), wish)
    return _back(context)


@signed_in
async def share(context: PageContext) -> Response:
    """Share the application with a person, or no more."""
    form = await context.form()
    role = str(form.get("role", "")) or None
    await context.client.share_application(_application(context), str(form.get("user", "")), role)
    return _back(context)


@signed_in
async def invite(context: PageContext) -> Response:
    """Make a link to the application and show it, this once."""
    form = await context.form()
    made = await context.client.invite_to_application(
        _application(context),
        str(form.get("role", "")),
        expires_in=people.lifetime(str(form.get("days", ""))),
    )
    return await _show(context, made)


@signed_in
async def uninvite(context: PageContext) -> Response:
    """Take a link to the application back."""
    form = await context.form()
    invitation_id = str(form.get("invitation", ""))
    await context.client.revoke_application_invitation(_application(context), invitation_id)
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
    Route(f"{_HERE}/objective", change_objective, methods=["POST"]),
    Route(f"{_HERE}/share", share, methods=["POST"]),
    Route(f"{_HERE}/invite", invite, methods=["POST"]),
    Route(f"{_HERE}/uninvite", uninvite, methods=["POST"]),
    Route(f"{_HERE}/delete", delete, methods=["POST"]),
    Route(f"{_HERE}/restore", restore, methods=["POST"]),
]
