"""What other controllers changed about who is let in counts here at once, too."""

from easeml.api.context import Context

_ABOUT_ACCESS = ("key.", "user.", "member.", "password.", "role.", "application.", "invitation.")


async def follow_changes(context: Context) -> None:
    """Look up keys and shares anew whenever an event says that some of them changed.

    Ends when the controller closes its streams. The time for which keys are remembered
    (``api.authentication``) holds where the database is away.
    """
    seen = 0
    with context.fanout.subscribe(None) as news:
        while not context.fanout.closed:
            await news.wait()
            news.clear()
            events = context.fanout.of_all_since(seen)
            seen = context.fanout.last
            # Without events the fanout began anew, and may have missed some.
            if not events or any(event.kind.startswith(_ABOUT_ACCESS) for event in events):
                context.authenticator.forget()
                context.doors.forget()
