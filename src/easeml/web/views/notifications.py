"""What easeml tells the visitor by itself, and where else it is sent."""

from starlette.responses import Response
from starlette.routing import Route

from easeml.contract.states import SubscriptionWay
from easeml.contract.subscriptions import Subscription
from easeml.web.page_context import PageContext, back_to, listed, signed_in

_PAGE = "/notifications"
_ELSEWHERE = f"{_PAGE}/elsewhere"


@signed_in
async def show(context: PageContext) -> Response:
    """Show the newest notifications."""
    found = await context.client.notifications()
    return context.render("notifications.html", found=found)


@signed_in
async def show_elsewhere(context: PageContext) -> Response:
    """Show where else they are sent."""
    return await _elsewhere(context)


@signed_in
async def mark_read(context: PageContext) -> Response:
    """Take all that was shown as read."""
    form = await context.form()
    seq = str(form.get("seq", ""))
    await context.client.mark_read(_event_number(seq))
    return back_to(_PAGE)


def _event_number(text: str) -> int:
    """Return the number of an event, as large as a database holds it; 0 for what is none."""
    is_number = text.isascii() and text.isdecimal() and len(text) < 19
    if not is_number:
        return 0
    return int(text)


@signed_in
async def subscribe(context: PageContext) -> Response:
    """Have them sent to an address, and show the secret that signs what is posted, once."""
    form = await context.form()
    address = str(form.get("address", "")).strip()
    way = SubscriptionWay.MAIL if _is_mail(address) else SubscriptionWay.WEBHOOK
    asked = list(map(str, form.getlist("kinds")))
    made = await context.client.subscribe(way, address, kinds=asked)
    return await _elsewhere(context, made)


@signed_in
async def change(context: PageContext) -> Response:
    """Confirm, test or end a subscription, or renew its secret, which is shown once."""
    form = await context.form()  # checks the token of the session
    id = context.path("id")
    what = context.path("what")
    if what == "confirm":
        await context.client.confirm_subscription(id, str(form.get("code", "")).strip())
    elif what == "test":
        await context.client.try_subscription(id)
    elif what == "secret":
        return await _elsewhere(context, await context.client.renew_subscription_secret(id))
    else:
        await context.client.unsubscribe(id)
    return back_to(_ELSEWHERE)


async def _elsewhere(context: PageContext, made: Subscription | None = None) -> Response:
    sent = await listed(context.client.subscriptions())
    return context.render("notifications_elsewhere.html", sent=sent, made=made)


def _is_mail(address: str) -> bool:
    return "@" in address and "://" not in address


routes = [
    Route(_PAGE, show),
    Route(f"{_PAGE}/read", mark_read, methods=["POST"]),
    Route(_ELSEWHERE, show_elsewhere),
    Route(_ELSEWHERE, subscribe, methods=["POST"]),
    Route(f"{_ELSEWHERE}/{{id}}/{{what}}", change, methods=["POST"]),
]
