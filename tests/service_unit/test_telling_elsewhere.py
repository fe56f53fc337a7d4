"""Notifications that are sent elsewhere: nothing is lost, nothing goes where it must not."""

import base64
import hashlib
import hmac
import json
import select
import socketserver
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from pathlib import Path

import pytest

from easeml.contract.states import MemberRole, ShareRole
from easeml.contract.subscriptions import (
    Confirmation,
    NewSubscription,
    SecretRenewal,
    Subscription,
)
from easeml.engine.messages import messenger as messenger_module
from easeml.engine.messages import webhooks
from easeml.engine.messages.mail import mail_of
from easeml.engine.messages.messenger import Messenger
from easeml.engine.messages.webhooks import signed
from easeml.errors import Conflict, InvalidInput, NotAllowed, NotFound, Unreachable
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.events import deliveries, notifications, subscriptions
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Share

from .conftest import Clock


def drip(answer: BufferedIOBase) -> None:
    """Answer a byte at a time, without end."""
    with suppress(OSError):
        answer.write(b"HTTP/1.1 200 OK\r\nx-long: ")
        while True:
            answer.write(b"x")
            select.select([], [], [], 0.02)


class Receiver:
    """A server of the other side; ``status`` is what it answers."""

    def __init__(self) -> None:
        self.status = 200
        self.drips = False
        self.got: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
                if receiver.drips:
                    drip(self.wfile)
                    return
                self.send_response(receiver.status)
                if receiver.status == 302:
                    self.send_header("location", "/elsewhere")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Print nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def kinds(self) -> list[str]:
        return [json.loads(body)["type"] for _, body in self.got]


class MailServer(socketserver.ThreadingTCPServer):
    """As much of SMTP as a client needs; keeps what it was given."""

    allow_reuse_address = daemon_threads = True

    def __init__(self) -> None:
        self.mails: list[str] = []
        super().__init__(("127.0.0.1", 0), _Conversation)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()


class _Conversation(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self._say("220 here")
        while line := self.rfile.readline():
            command = line.decode().strip().upper()
            if command == "DATA":
                self._say("354 go on")
                lines = iter(self.rfile.readline, b".\r\n")
                _mails_of(self.server).append(b"".join(lines).decode())
                self._say("250 taken")
            elif command == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 well")

    def _say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


def _mails_of(server: object) -> list[str]:
    assert isinstance(server, MailServer)
    return server.mails


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        yield server
        server.shutdown()


def settings(tmp_path: Path, mail: MailServer | None = None, **more: str) -> Settings:
    url = f"smtp://127.0.0.1:{mail.server_address[1]}" if mail else ""
    return Settings(home=tmp_path, outgoing_hosts="127.0.0.1", smtp_url=url, **more)


def messenger(store: Store, tmp_path: Path, mail: MailServer | None = None) -> Messenger:
    return Messenger(store, settings(tmp_path, mail), "proc_1")


def tell(store: Store, caller: Caller, kind: str, subject: str = "app_1", **data: object) -> None:
    with store.write() as tx:
        tx.events.append(kind, subject, data, caller.tenant_id)


def signature_of(headers: dict[str, str], body: bytes, secret: str) -> str:
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return f"v1,{base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()}"


def post_to(store: Store, tmp_path: Path, caller: Caller, url: str, **more: object) -> Subscription:
    wish = NewSubscription.model_validate({"way": "webhook", "address": url, **more})
    return subscriptions.subscribe(store, settings(tmp_path), caller, wish)


def only(store: Store, caller: Caller) -> Subscription:
    (found,) = subscriptions.list_page(store, caller).items
    return found


def test_what_happens_is_posted_once_in_order_and_signed(
    store: Store, ann: Caller, bob: Caller, tmp_path: Path, receiver: Receiver
) -> None:
    tell(store, ann, "promotion.live", name="before it was asked for")
    made = post_to(store, tmp_path, ann, receiver.url)
    sender = messenger(store, tmp_path)
    tell(store, ann, "promotion.live", name="tree-2", quality=0.9)
    tell(store, ann, "task.done", "task_1")  # nobody asks for these
    tell(store, bob, "promotion.live", name="of somebody else")
    tell(store, ann, "watch.alert", reason="It was right less often.")
    assert [sender.send_due(), sender.send_due()] == [1, 0]
    assert receiver.kinds() == ["easeml.promotion.live", "easeml.watch.alert"]
    headers, body = receiver.got[0]
    event = json.loads(body)
    assert event["data"]["text"] == "serves a better model: tree-2, score 0.9000 on validation rows"
    assert (event["specversion"], event["subject"]) == ("1.0", "app_1")
    assert headers["content-type"].startswith("application/cloudevents+json")
    assert headers["webhook-signature"] == signature_of(headers, body, made.secret)
    assert only(store, ann).secret == ""  # it is told once


def test_an_old_secret_signs_as_well_until_everybody_has_the_new_one(
    store: Store, ann: Caller, clock: Clock, tmp_path: Path, receiver: Receiver
) -> None:
    made = post_to(store, tmp_path, ann, receiver.url)
    sender = messenger(store, tmp_path)
    renewed = subscriptions.renew_secret(store, ann, made.id, SecretRenewal(overlap_hours=1))
    assert renewed.secret not in ("", made.secret)
    tell(store, ann, "promotion.live")
    sender.send_due()
    clock.now += 3601
    tell(store, ann, "promotion.live")
    sender.send_due()
    last = subscriptions.renew_secret(store, ann, made.id, SecretRenewal(overlap_hours=0))
    tell(store, ann, "promotion.live")
    sender.send_due()
    expected = [[renewed.secret, made.secret], [renewed.secret], [last.secret]]
    for (headers, body), secrets in zip(receiver.got, expected, strict=True):
        signatures = [signature_of(headers, body, secret) for secret in secrets]
        assert headers["webhook-signature"].split(" ") == signatures
    assert only(store, ann).secret == ""
    subscriptions.unsubscribe(store, ann, made.id)
    with pytest.raises(NotFound):
        subscriptions.renew_secret(store, ann, made.id, SecretRenewal())


def test_the_signature_is_that_of_the_published_example() -> None:
    # Standard Webhooks 1.0.0, the example of its specification.
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    headers = signed([secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("status", [302, 404, 500])
def test_what_is_not_taken_is_sent_again_later_and_given_up_after_days(
    store: Store, ann: Caller, clock: Clock, tmp_path: Path, receiver: Receiver, status: int
) -> None:
    receiver.status = status
    post_to(store, tmp_path, ann, receiver.url)
    sender = messenger(store, tmp_path)
    tell(store, ann, "promotion.live", name="tree")
    sender.send_due()
    assert sender.send_due() == 0  # not at once again
    failed = only(store, ann)
    assert (failed.failures, str(status) in failed.error) == (1, True)
    clock.now += 11
    receiver.status = 200
    assert sender.send_due() == 1
    ids = [headers["webhook-id"] for headers, _ in receiver.got]
    assert len(ids) == 2
    assert ids[0] == ids[1]  # so that the other side sees that it is the same
    assert only(store, ann).failures == 0

    receiver.status = status
    tell(store, ann, "promotion.live", name="forest")
    for _ in range(100):
        sender.send_due()
        clock.now += 3601
    assert only(store, ann).state == "paused"
    assert len(receiver.got) < 100
    (said,) = [one for one in notifications.get(store, ann).items if "subscription" in one.kind]
    assert "did not arrive" in said.text
    receiver.status = 200
    subscriptions.try_out(store, ann, failed.id)
    sender.send_due()
    assert receiver.kinds()[-1] == "easeml.subscription.test"
    assert only(store, ann).state == "active"


def test_only_what_was_asked_for_is_sent_though_much_else_happens(
    store: Store, ann: Caller, tmp_path: Path, receiver: Receiver
) -> None:
    with pytest.raises(NotFound):
        post_to(store, tmp_path, ann, receiver.url, application_id="app_2")
    made = post_to(store, tmp_path, ann, receiver.url, kinds=["watch", "promotion.refused"])
    with store.write() as tx:
        tx.unscoped().subscriptions.update(made.id, application_id="app_2")
    for _ in range(120):
        tell(store, ann, "watch.alert", "app_1")
    tell(store, ann, "promotion.live", "app_2")
    tell(store, ann, "watch.alert", "app_2")
    sender = messenger(store, tmp_path)
    while sender.send_due():
        pass
    assert receiver.kinds() == ["easeml.watch.alert"]


def test_an_address_in_ones_own_network_is_never_posted_to(
    store: Store, ann: Caller, tmp_path: Path, receiver: Receiver
) -> None:
    post_to(store, tmp_path, ann, receiver.url)
    sender = Messenger(store, Settings(home=tmp_path), "proc_1")  # no host is allowed
    tell(store, ann, "promotion.live")
    sender.send_due()
    assert receiver.got == []
    assert "outgoing_hosts" in only(store, ann).error


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8790", "10.0.0.7", "[::1]", "LocalHost", "app.localhost", "2130706433"]
)
def test_an_address_that_is_written_as_ones_own_is_refused_at_once(
    store: Store, ann: Caller, tmp_path: Path, host: str
) -> None:
    """It was taken, called active, and failed by each message until somebody looked."""
    wish = NewSubscription.model_validate({"way": "webhook", "address": f"http://{host}/hook"})
    with pytest.raises(NotAllowed, match="own") as refused:
        subscriptions.subscribe(store, Settings(home=tmp_path), ann, wish)
    assert "outgoing_hosts" in refused.value.remedy
    assert subscriptions.list_page(store, ann).items == []


def test_who_answers_without_end_is_not_waited_for(
    store: Store,
    ann: Caller,
    tmp_path: Path,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(webhooks, "_SECONDS", 0.3)
    receiver.drips = True
    post_to(store, tmp_path, ann, receiver.url)
    tell(store, ann, "promotion.live")
    messenger(store, tmp_path).send_due()
    assert "could not be posted" in only(store, ann).error


def test_whatever_goes_wrong_with_one_holds_up_no_other(
    store: Store, ann: Caller, tmp_path: Path, receiver: Receiver
) -> None:
    broken = post_to(store, tmp_path, ann, receiver.url)
    with store.write() as tx:  # an address that nobody foresaw
        tx.unscoped().subscriptions.update(broken.id, address="https://m\u00fcnchen.example/")
    post_to(store, tmp_path, ann, receiver.url)
    tell(store, ann, "promotion.live")
    sender = messenger(store, tmp_path)
    assert sender.send_due() == 2
    assert receiver.kinds() == ["easeml.promotion.live"]
    assert sender.send_due() == 0  # it waits as any failure does
    assert subscriptions.list_page(store, ann).items[0].failures == 1


def test_a_turn_ends_and_the_rest_comes_with_the_next(
    store: Store,
    ann: Caller,
    tmp_path: Path,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    post_to(store, tmp_path, ann, receiver.url)
    for number in range(3):
        tell(store, ann, "promotion.live", name=f"tree-{number}")
    sender = messenger(store, tmp_path)
    monkeypatch.setattr(messenger_module, "_TURN", -1.0)
    assert sender.send_due() == 1
    assert receiver.got == []
    monkeypatch.undo()
    assert sender.send_due() == 1
    assert len(receiver.got) == 3


def test_viewers_and_the_audit_see_no_address_that_is_a_secret(
    store: Store, ann: Caller, tmp_path: Path
) -> None:
    made = post_to(store, tmp_path, ann, "https://chat.lab.org/hooks/T0/very-secret?sig=x")
    subscriptions.unsubscribe(store, ann, made.id)
    with store.read() as tx:
        told = [event for event in tx.events.after(0) if event.kind.startswith("subscription.")]
    assert [event.data["host"] for event in told] == ["chat.lab.org", "chat.lab.org"]
    assert "very-secret" not in str(told)


@pytest.mark.parametrize("url", ["mail.lab.org", "http://mail.lab.org", "smtp://", "smtp://a:x"])
def test_a_server_of_mail_that_is_none_is_refused_at_the_start(tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidInput, match="smtp_url"):
        mail_of(Settings(home=tmp_path, smtp_url=url))


def test_no_password_is_sent_in_clear(tmp_path: Path, mail_server: MailServer) -> None:
    url = f"smtp://ann:secret@127.0.0.1:{mail_server.server_address[1]}"
    mail = mail_of(Settings(home=tmp_path, smtp_url=url))
    assert mail is not None
    with pytest.raises(Unreachable, match="no encryption"):
        mail.send_code("a@b.org", "CODE")
    assert "secret" not in str(mail_server.mails)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"address": "ftp://chat.lab.org"}, "https://"),
        ({"address": "https://"}, "https://"),
        ({"address": "https://chat.lab.org:99999/"}, "https://"),
        ({"address": "https://ann:secret@chat.lab.org/"}, "password"),
        ({"address": "https://chat.lab.org/\nhost: x"}, "https://"),
        ({"address": "http://[::1/"}, "https://"),
        ({"address": "https://m\u00fcnchen.example/"}, "https://"),
        ({"address": "https://chat.lab.org:25/"}, "Port 25"),
        ({"kinds": ["promotoin.live"]}, "Did you mean 'promotion.live'"),
        ({"quiet": [22, 7]}, "Only mail"),
        ({"way": "mail", "address": "nobody"}, "not a mail address"),
        ({"way": "mail", "address": "a@b.org,c@d.org"}, "not a mail address"),
        ({"way": "mail", "address": "a@b.org\r\nBcc: c@d.org"}, "not a mail address"),
        ({"way": "mail", "address": "a@b.org", "quiet": [3, 3]}, "two different"),
        ({"way": "mail", "address": "a@b.org", "quiet": [3, 24]}, "two different"),
    ],
)
def test_what_cannot_be_is_refused(
    store: Store, ann: Caller, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    wish = {"way": "webhook", "address": "https://chat.lab.org/hook", **change}
    with_mail = Settings(home=tmp_path, smtp_url="smtp://mail.lab.org")
    with pytest.raises(InvalidInput, match=message):
        subscriptions.subscribe(store, with_mail, ann, NewSubscription.model_validate(wish))
    assert subscriptions.list_page(store, ann).items == []


def test_mail_is_sent_to_who_confirmed_in_one_piece_and_not_at_night(
    store: Store, ann: Caller, clock: Clock, tmp_path: Path, mail_server: MailServer
) -> None:
    wish = NewSubscription.model_validate(
        {"way": "mail", "address": "ann@lab.org", "quiet": [22, 7]}
    )
    with pytest.raises(Conflict, match="sends no mail"):
        subscriptions.subscribe(store, settings(tmp_path), ann, wish)
    made = subscriptions.subscribe(store, settings(tmp_path, mail_server), ann, wish)
    assert (made.state, made.secret) == ("unconfirmed", "")
    sender = messenger(store, tmp_path, mail_server)
    tell(store, ann, "promotion.live", name="before it was confirmed")
    assert [sender.send_due(), sender.send_due()] == [1, 0]
    (mail,) = mail_server.mails
    code = mail.partition("confirms it: ")[2].split()[0]
    with pytest.raises(Conflict, match="not the code"):
        subscriptions.confirm(store, ann, made.id, Confirmation(code="wrong"))
    confirmed = subscriptions.confirm(store, ann, made.id, Confirmation(code=code.lower()))
    assert confirmed.state == "active"

    clock.now -= clock.now % 86_400 - 23 * 3600  # eleven in the evening
    tell(store, ann, "promotion.live", name="tree\r\nBcc: x@y.org", quality=0.9)
    tell(store, ann, "watch.alert", reason="It was right less often.")
    assert sender.send_due() == 0
    clock.now += 9 * 3600
    assert [sender.send_due(), sender.send_due()] == [1, 0]
    told = mail_server.mails[1]
    assert "2 notifications" in told
    assert "right less often" in told
    assert "before it was confirmed" not in told
    headers = told.partition("\r\n\r\n")[0]
    assert "Bcc" not in headers
    tell(store, ann, "watch.over")
    assert sender.send_due() == 0  # at most one in ten minutes
    clock.now += 601
    assert sender.send_due() == 1


def test_a_mail_that_did_not_arrive_is_no_wrong_code(
    store: Store, ann: Caller, clock: Clock, tmp_path: Path, mail_server: MailServer
) -> None:
    wish = NewSubscription.model_validate({"way": "mail", "address": "ann@lab.org"})
    away = Settings(home=tmp_path, smtp_url="smtp://127.0.0.1:1")
    made = subscriptions.subscribe(store, away, ann, wish)
    for _ in range(6):
        Messenger(store, away, "proc_1").send_due()
        clock.now += 3600
    assert only(store, ann).failures == 6
    messenger(store, tmp_path, mail_server).send_due()
    with pytest.raises(Conflict, match="not the code"):
        subscriptions.confirm(store, ann, made.id, Confirmation(code="wrong"))


def test_five_wrong_codes_end_it(store: Store, ann: Caller, tmp_path: Path) -> None:
    wish = NewSubscription.model_validate({"way": "mail", "address": "ann@lab.org"})
    with_mail = Settings(home=tmp_path, smtp_url="smtp://mail.lab.org")
    made = subscriptions.subscribe(store, with_mail, ann, wish)
    for number in range(5):
        with pytest.raises(Conflict, match="not the code" if number < 4 else "fifth"):
            subscriptions.confirm(store, ann, made.id, Confirmation(code=f"A{number}"))
    with pytest.raises(NotFound):
        subscriptions.confirm(store, ann, made.id, Confirmation(code="A6"))


def test_nobody_elses_is_seen_changed_or_told(
    store: Store, ann: Caller, bob: Caller, tmp_path: Path, receiver: Receiver
) -> None:
    made = post_to(store, tmp_path, ann, receiver.url)
    assert subscriptions.list_page(store, bob).items == []
    for use in (subscriptions.try_out, subscriptions.unsubscribe):
        with pytest.raises(NotFound):
            use(store, bob, made.id)
    tell(store, ann, "promotion.live")
    with store.write() as tx:
        own = tx.scoped(ann.tenant_id).memberships.find(user_id=ann.user_id)
        assert own is not None
        tx.unscoped().memberships.update(own.id, role=MemberRole.VIEWER)
    assert deliveries.due(store) == []
    with store.write() as tx:
        tx.unscoped().memberships.update(own.id, role=MemberRole.OWNER)
    assert len(deliveries.due(store)) == 1
    subscriptions.unsubscribe(store, ann, made.id)
    assert deliveries.due(store) == []
    assert subscriptions.list_page(store, ann).items == []


def share(store: Store, owner: Caller, user: Caller, application_id: str, role: ShareRole) -> str:
    with store.write() as tx:
        made = Share(new_id("share"), owner.tenant_id, application_id, user.user_id, role)
        return tx.scoped(owner.tenant_id).shares.add(made).id


def subjects_sent(receiver: Receiver) -> list[str]:
    return [json.loads(body)["subject"] for _, body in receiver.got]


def test_what_others_share_is_told_elsewhere_from_then_on_until_it_is_not(
    store: Store, ann: Caller, bob: Caller, clock: Clock, tmp_path: Path, receiver: Receiver
) -> None:
    post_to(store, tmp_path, bob, receiver.url)
    sender = messenger(store, tmp_path)
    tell(store, ann, "promotion.live", "app_1")
    clock.now += 1
    given = share(store, ann, bob, "app_1", ShareRole.OWNER)
    share(store, ann, bob, "app_2", ShareRole.VIEWER)
    share(store, ann, bob, "app_3", ShareRole.LABELLER)
    for name in ("app_1", "app_2", "app_3", "app_4"):
        tell(store, ann, "promotion.live", name)
    tell(store, ann, "subscription.test", "sub_of_ann")
    tell(store, bob, "promotion.live", "app_5")
    sender.send_due()
    assert subjects_sent(receiver) == ["app_1", "app_2", "app_5"]
    with store.write() as tx:
        tx.scoped(ann.tenant_id).shares.forget(tx.now() + 1.0, id=given)
    tell(store, ann, "promotion.live", "app_1")
    tell(store, ann, "promotion.live", "app_2")
    sender.send_due()
    assert subjects_sent(receiver)[3:] == ["app_2"]
    assert sender.send_due() == 0


def test_much_that_happens_beside_what_is_shared_holds_nothing_up(
    store: Store, ann: Caller, bob: Caller, tmp_path: Path, receiver: Receiver
) -> None:
    post_to(store, tmp_path, bob, receiver.url)
    share(store, ann, bob, "app_1", ShareRole.VIEWER)
    with store.write() as tx:
        for _ in range(120):
            tx.events.append("promotion.live", "app_9", {}, ann.tenant_id)
    tell(store, ann, "promotion.live", "app_1")
    tell(store, bob, "promotion.live", "app_5")
    sender = messenger(store, tmp_path)
    assert [sender.send_due() for _ in range(4)] == [1, 1, 1, 0]
    assert subjects_sent(receiver) == ["app_1", "app_5"]


def test_one_may_ask_for_one_application_that_is_shared(
    store: Store, ann: Caller, bob: Caller, tmp_path: Path, receiver: Receiver
) -> None:
    share(store, ann, bob, "app_2", ShareRole.VIEWER)
    share(store, ann, bob, "app_3", ShareRole.LABELLER)
    post_to(store, tmp_path, bob, receiver.url, application_id="app_2")
    for closed in ("app_1", "app_3"):
        with pytest.raises(NotFound):
            post_to(store, tmp_path, bob, receiver.url, application_id=closed)
    tell(store, ann, "promotion.live", "app_2")
    tell(store, bob, "promotion.live", "app_5")
    messenger(store, tmp_path).send_due()
    assert subjects_sent(receiver) == ["app_2"]


def test_of_two_messengers_one_sends(
    store: Store, ann: Caller, clock: Clock, tmp_path: Path, receiver: Receiver
) -> None:
    post_to(store, tmp_path, ann, receiver.url)
    tell(store, ann, "promotion.live")
    first = messenger(store, tmp_path)
    second = Messenger(store, settings(tmp_path), "proc_2")
    assert first.send_due() == 1
    tell(store, ann, "promotion.live")
    assert second.send_due() == 0
    clock.now += 60  # the first is gone
    assert second.send_due() == 1
    assert len(receiver.got) == 2


def test_only_so_many(store: Store, ann: Caller, tmp_path: Path) -> None:
    for number in range(20):
        post_to(store, tmp_path, ann, f"https://chat.lab.org/{number}")
    with pytest.raises(Conflict, match="20 already"):
        post_to(store, tmp_path, ann, "https://chat.lab.org/20")
