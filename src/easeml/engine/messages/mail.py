"""Mailing notifications: several in one mail."""

import smtplib
import ssl
from collections.abc import Sequence
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from urllib.parse import unquote, urlsplit

from easeml.contract.notifications import Notification
from easeml.errors import InvalidInput, Unreachable
from easeml.settings import Settings

_SECONDS = 20.0
_PORTS = {"smtp": 587, "smtps": 465}
_LONGEST_SUBJECT = 150  # characters


class Mail:
    """A server that takes mail."""

    def __init__(self, url: str, sender: str, home_page: str):
        """``url``: see the setting ``smtp_url``; ``home_page``: where this easeml is looked at.

        Raises ``InvalidInput`` for a URL of another kind.
        """
        wrong = InvalidInput(
            "Mail is sent by smtp://HOST or smtps://HOST.",
            where="smtp_url",
            remedy="Such as smtp://USER:PASSWORD@mail.lab.org:587.",
        )
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise wrong from None
        if parts.scheme not in _PORTS or not parts.hostname:
            raise wrong
        self._is_encrypted = parts.scheme == "smtps"
        self._context = ssl.create_default_context()
        self._host = parts.hostname
        self._port = port or _PORTS[parts.scheme]
        self._user = unquote(parts.username or "")
        self._password = unquote(parts.password or "")
        self._sender = sender
        self._home_page = home_page

    def send_notes(self, to: str, notes: Sequence[Notification]) -> None:
        """Mail notifications, oldest first. Raises ``Unreachable`` where the server takes none."""
        lines = [f"{_subject_of(note)} {note.text}" for note in notes]
        first = lines[0] if len(lines) == 1 else f"{len(lines)} notifications, {lines[-1]}"
        body = "\n\n".join([*lines, f"Look at it: {self._home_page}/notifications"])
        self._send(to, f"easeml: {first}", body)

    def send_code(self, to: str, code: str) -> None:
        """Mail the code that confirms an address. Raises ``Unreachable``."""
        body = (
            f"Somebody who uses easeml at {self._home_page} wants its notifications sent to this "
            f"address.\n\nThe code that confirms it: {code}\n\n"
            "If it was not you, do nothing: no more mail comes."
        )
        self._send(to, "easeml: confirm this address", body)

    def _send(self, to: str, subject: str, body: str) -> None:
        message = EmailMessage()
        message["From"] = self._sender
        message["To"] = to
        message["Subject"] = " ".join(subject.split())[:_LONGEST_SUBJECT]
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid(domain=self._sender.rpartition("@")[2] or "localhost")
        message["Auto-Submitted"] = "auto-generated"  # so that no automatic answer comes (RFC 3834)
        message.set_content(body)
        try:
            with self._opened() as server:
                self._greet(server)
                server.send_message(message)
        except (smtplib.SMTPException, OSError) as error:
            raise Unreachable(f"It could not be mailed: {error}", where=self._host) from error

    def _opened(self) -> smtplib.SMTP:
        if self._is_encrypted:
            return smtplib.SMTP_SSL(self._host, self._port, timeout=_SECONDS, context=self._context)
        return smtplib.SMTP(self._host, self._port, timeout=_SECONDS)

    def _greet(self, server: smtplib.SMTP) -> None:
        """Encrypt where the server can, and sign in; no password is sent in clear."""
        server.ehlo_or_helo_if_needed()
        is_encrypted = self._is_encrypted
        if not is_encrypted and server.has_extn("starttls"):
            server.starttls(context=self._context)
            is_encrypted = True
        if not self._user:
            return
        if not is_encrypted:
            raise Unreachable(
                "The server that takes mail offers no encryption, so it gets no password.",
                where=self._host,
                remedy="Set smtp_url to smtps://..., or without a user.",
            )
        server.login(self._user, self._password)


def mail_of(settings: Settings) -> Mail | None:
    """Return the server that the settings name, None where there is none; raises ``InvalidInput``."""
    if not settings.smtp_url:
        return None
    return Mail(settings.smtp_url, settings.mail_from, home_page(settings))


def home_page(settings: Settings) -> str:
    """Return where people look at this easeml."""
    return settings.public_url or f"http://{settings.host}:{settings.port}"


def _subject_of(note: Notification) -> str:
    """Return what a notification is about, as the beginning of its sentence."""
    return note.name or "this easeml"
