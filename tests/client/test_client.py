"""The synchronous client against a real HTTP server."""

import io
import itertools
import re
import ssl
import zipfile
from pathlib import Path

import httpx
import pandas as pd
import pytest
from service_for_tests import KEY, FakeService

from easeml.client import Client, frames
from easeml.client.apart import difference
from easeml.contract.applications import Declaration
from easeml.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    NotReady,
    NotSignedIn,
    TimedOut,
    Unreachable,
    VersionsDiffer,
)


@pytest.fixture
def client(service: FakeService, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("easeml.client._sync.transport.backoff", lambda _: 0.001)
    with Client(service.url, KEY) as client:
        yield client


def test_an_upload_streams_the_file_and_tells_how_far_it_is(
    client: Client, service: FakeService, tmp_path: Path
):
    content = bytes(range(256)) * 4096  # 1 MiB
    path = tmp_path / "my table.csv"
    path.write_bytes(content)
    steps: list[tuple[int, int]] = []

    dataset = client.upload(path, progress=lambda sent, size: steps.append((sent, size)))

    assert dataset.name == "my table"
    assert service.uploads == [content]
    assert service.requests[-1][2]["transfer-encoding"] == "chunked"
    assert len(steps) > 1
    assert steps[-1] == (len(content), len(content))


def test_a_creation_whose_answer_is_lost_is_sent_again_and_made_once(
    client: Client, service: FakeService, tmp_path: Path
):
    path = tmp_path / "table.csv"
    path.write_text("x,y\n1,a\n")
    service.drop = 2
    assert client.upload(path).id == "data_1"
    assert len(service.requests) == 3
    assert len(service.uploads) == 1
    assert len({headers["idempotency-key"] for _, _, headers, _ in service.requests}) == 1


def test_what_may_not_be_repeated_is_sent_once(client: Client, service: FakeService):
    service.failures = [503]
    with pytest.raises(NotReady, match="Not yet"):
        client.roll_back("app_1")
    assert len(service.requests) == 1


def test_reading_waits_for_a_service_that_is_not_ready(client: Client, service: FakeService):
    service.failures = [503, 502, 429]
    assert client.application("app_1").id == "app_1"
    assert len(service.requests) == 4


def test_retries_end(client: Client, service: FakeService):
    service.failures = [503] * 9
    with pytest.raises(NotReady):
        client.application("app_1")
    assert len(service.requests) == 5


def test_a_problem_comes_back_as_its_exception_with_the_remedy(client: Client):
    with pytest.raises(NotFound) as caught:
        client.application("app_2")
    assert caught.value.message == "There is no /api/v1/applications/app_2."
    assert caught.value.remedy == "Look at the list."
    with pytest.raises(KeyError):
        client.task("task_7")


def test_a_wrong_key_and_no_service(service: FakeService, monkeypatch: pytest.MonkeyPatch):
    with Client(service.url, "wrong") as client, pytest.raises(NotSignedIn) as caught:
        client.application("app_1")
    assert "easeml login" in caught.value.remedy
    monkeypatch.setattr("easeml.client._sync.transport.backoff", lambda _: 0.001)
    with Client("http://127.0.0.1:9", KEY) as client:
        with pytest.raises(Unreachable) as unreachable:
            client.application("app_1")
        assert "easeml up" in unreachable.value.remedy
        assert not client.is_healthy()


def test_an_answer_of_another_program_is_told_as_such():
    transport = httpx.MockTransport(lambda _: httpx.Response(200, text="<html>hello</html>"))
    with (
        Client("http://elsewhere", KEY, transport=transport) as client,
        pytest.raises(Unreachable, match="not a valid Job"),
    ):
        client.job("job_1")


@pytest.mark.parametrize(
    ("service", "advice"),
    [
        ("99.1.0", "Install the version of the service: pip install 'easeml==99.1.0'."),
        ("0.0.9", "Upgrade the service, or install its version here: pip install 'easeml==0.0.9'."),
    ],
)
def test_a_service_of_another_version_is_told_as_such(service: str, advice: str):
    def answer(request: httpx.Request) -> httpx.Response:
        headers = {"x-easeml-version": service}
        if request.url.path.endswith("/jobs/job_1"):
            problem = {"title": "Not Found", "status": 404, "code": "not-found", "remedy": "Look."}
            return httpx.Response(404, json=problem, headers=headers)
        return httpx.Response(200, json={"jobs": "in another form"}, headers=headers)

    said = re.escape(f"and the service is easeml {service}. {advice}")
    with Client("http://elsewhere", KEY, transport=httpx.MockTransport(answer)) as client:
        with pytest.warns(VersionsDiffer, match=said), pytest.raises(NotFound) as refused:
            client.job("job_1")
        assert refused.value.remedy.startswith("Look. This client is easeml ")
        assert refused.value.remedy.endswith(advice)
        with pytest.warns(VersionsDiffer), pytest.raises(Unreachable) as unread:
            client.application("app_1")
        assert unread.value.remedy.endswith(advice)


@pytest.mark.parametrize("service", ["", "later", "1.2", "1.2.9", "1.2.0.dev1"])
def test_versions_that_speak_alike_say_nothing(service: str):
    assert difference(httpx.Response(200, headers={"x-easeml-version": service}), "1.2.3") == ""


def test_signing_in_replaces_the_key(service: FakeService):
    with Client(service.url, "old") as client:
        with pytest.raises(NotSignedIn, match="wrong"):
            client.login("ada", "wrong password")
        assert client.login("ada", "right password").secret == KEY
        assert client.application("app_1").id == "app_1"
        assert "authorization" not in service.requests[0][2]


def test_lists_are_read_page_by_page(client: Client, service: FakeService):
    tasks = client.tasks(job_id="job_1")
    assert [task.id for task in itertools.islice(tasks, 2)] == ["task_0", "task_1"]
    assert len(service.requests) == 1
    assert [task.id for task in tasks] == ["task_2", "task_3", "task_4"]


def test_events_go_on_where_the_connection_broke(
    client: Client, service: FakeService, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("easeml.client._sync.tasks.backoff", lambda _: 0.001)
    assert [event.seq for event in itertools.islice(client.events(after=1), 5)] == [2, 3, 4, 5, 6]
    assert [headers.get("last-event-id") for _, _, headers, _ in service.requests] == [
        "1",
        "3",
        "5",
    ]


def test_waiting_for_the_first_model_and_for_the_end(client: Client, service: FakeService):
    found = client.wait("app_1", until="first-model", timeout=30)
    assert found.live_model is not None
    assert found.job is not None
    assert found.job.state == "running"
    assert service.looks == 2
    found = client.wait("app_1", until="converged", timeout=30)
    assert found.job is not None
    assert found.job.state == "resting"
    assert found.job.settled
    assert service.looks == service.looks_to_end + 1


def test_a_wait_ends_in_time(client: Client, service: FakeService):
    service.looks_to_end = 10**9
    with pytest.raises(TimedOut, match=r"0\.05 s\. No worker runs\."):
        client.wait("app_1", until="converged", timeout=0.05)


def test_a_wait_for_what_cannot_come_ends_at_once(client: Client, service: FakeService):
    service.looks_to_model, service.looks_to_end = 10**9, 1
    with pytest.raises(Conflict, match="found no model"):
        client.wait("app_1", until="first-model")


def test_failed_data_says_why_and_which_file(client: Client, service: FakeService):
    service.version_error = "Row 3 has 2 cells, the header 3."
    with pytest.raises(InvalidInput, match=r"table\.csv: Row 3"):
        client.wait_version_ready("ver_1")


def test_predictions_of_rows_and_of_csv(client: Client, service: FakeService):
    assert client.predict("app_1", [{"x": 1}, {"x": None}]).predictions == ["class 0", "class 1"]
    assert client.predict("app_1", csv="x\n1\n2\n3\n").predictions[-1] == "class 2"
    assert service.requests[-1][2]["content-type"] == "text/csv"


def test_a_long_frame_is_predicted_in_parts_and_tells_how_far_it_is(
    client: Client, service: FakeService, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(frames, "ROWS_AT_ONCE", 2)
    told: list[tuple[int, int]] = []
    asked = pd.DataFrame({"x": [1, 2, 3]}, index=["a", "b", "c"])
    found = client.predict("app_1", asked, progress=lambda done, rows: told.append((done, rows)))
    assert found["prediction"].to_dict() == {"a": "class 0", "b": "class 1", "c": "class 0"}
    assert told == [(2, 3), (3, 3)]


def test_a_folder_goes_as_a_zip_file(client: Client, service: FakeService, tmp_path: Path):
    folder = tmp_path / "flowers"
    (folder / "rose").mkdir(parents=True)
    (folder / "rose" / "one.txt").write_text("red")
    assert client.upload(folder).name == "flowers"
    client.import_model("app_1", folder)
    for sent in service.uploads:
        with zipfile.ZipFile(io.BytesIO(sent)) as archive:
            assert archive.namelist() == ["rose/one.txt"]
    assert len(service.uploads) == 2
    with pytest.raises(InvalidInput, match="no such file"):
        client.upload(tmp_path / "tulips")


def test_a_request_that_cannot_be_right_is_not_sent(client: Client, service: FakeService):
    with pytest.raises(InvalidInput) as caught:
        client.create_user("Ada Lovelace", "long enough")
    assert caught.value.where == "name"
    with pytest.raises(InvalidInput):
        client.upload("missing.csv")
    assert not service.requests


def test_a_declaration_travels_whole(client: Client):
    declaration = Declaration(dataset_id="data_1", target="y", set={"x": "category"})  # pyright: ignore
    assert client.propose(declaration).columns[0].type == "category"
    assert client.create_application(declaration).id == "app_1"


def test_an_answer_that_takes_too_long_is_not_a_service_that_is_away():
    def too_slow(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("", request=request)

    with (
        Client("http://h", "k", timeout=7, transport=httpx.MockTransport(too_slow)) as client,
        pytest.raises(TimedOut, match="took more than 7 s to answer") as caught,
    ):
        client.predict("app_1", [{"x": 1}])
    assert "busy" in caught.value.remedy


def test_whom_to_trust_is_read_where_there_is_tls_only(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(ssl, "create_default_context", lambda *_, **__: read.append(1))
    Client("http://127.0.0.1:1", KEY).close()
    assert not read
    Client("https://127.0.0.1:1", KEY).close()
    assert read
