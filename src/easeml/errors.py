"""Every error that easeml raises on purpose: one root, and leaves that people can also catch by
built-in name.

A message says what is wrong and where; ``remedy`` says what to do next. ``code`` is stable: the
REST API shows it as the problem's type, and the command line turns it into an exit code.
"""


class EasemlError(Exception):
    """Something went wrong in easeml."""

    code = "internal"

    def __init__(self, message: str | None = None, *, remedy: str = "", where: str = ""):
        """``where`` is the place (file, row, column, key or path), ``remedy`` the next thing to
        try.
        """
        self.message = message or (type(self).__doc__ or "").strip()
        self.remedy = remedy
        self.where = where
        super().__init__(self.message)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.message}" + (f" {self.remedy}" if self.remedy else "")


class InvalidInput(EasemlError, ValueError):
    """The input is not valid."""

    code = "invalid-input"


class NotFound(EasemlError, KeyError):
    """There is no such thing, or it is not yours."""

    code = "not-found"

    __str__ = EasemlError.__str__


class NotSignedIn(EasemlError, PermissionError):
    """Sign in, or send an API key that is valid."""

    code = "not-signed-in"


class NotAllowed(EasemlError, PermissionError):
    """You may not do this."""

    code = "not-allowed"


class OverQuota(NotAllowed):
    """This would take more than the provider lets this tenant use."""

    code = "over-quota"


class OverStorage(OverQuota):
    """This would take more bytes than the provider lets this tenant store."""

    code = "over-storage"


class TooMany(OverQuota):
    """This is more than may be asked for now; ``seconds`` says when there is room again."""

    code = "too-many"

    def __init__(
        self, message: str | None = None, *, remedy: str = "", where: str = "", seconds: float = 1.0
    ):
        """``seconds``: until it may be asked for again."""
        super().__init__(message, remedy=remedy, where=where)
        self.seconds = seconds


class Conflict(EasemlError):
    """The thing is not in a state that allows this."""

    code = "conflict"


class Fenced(Conflict):
    """Another process has taken over this work; this result is not accepted."""

    code = "fenced"


class NotReady(EasemlError):
    """This is not ready yet; try again shortly."""

    code = "not-ready"


class DatabaseAway(NotReady):
    """The database does not answer, or not soon enough; what was asked may not have been done."""


class TooLarge(EasemlError, ValueError):
    """The input is larger than the limit."""

    code = "too-large"


class Unreachable(EasemlError, ConnectionError):
    """The easeml service cannot be reached."""

    code = "unreachable"


class TimedOut(EasemlError, TimeoutError):
    """The wait ended before the thing happened."""

    code = "timed-out"


class StorageFull(EasemlError):
    """The disk is full, so nothing can be kept."""

    code = "storage-full"


class Damaged(EasemlError):
    """Stored bytes do not match their digest."""

    code = "damaged"


class VersionsDiffer(UserWarning):
    """Client and service are of different versions: some of what one asks the other may not know."""
