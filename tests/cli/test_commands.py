"""Commands against a real HTTP server: what they print, write and exit with."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from service_for_tests import KEY, FakeService
from typer.testing import CliRunner, Result

from easeml.cli import app
from easeml.cli.named_applications import application_id
from easeml.cli.output import moment
from easeml.cli.sent_rows import read_csv, rows_of_table, split_csv
from easeml.client import credentials_file
from easeml.errors import NotAllowed

_CREATE = ("POST", "/api/v1/applications")


@pytest.fixture
def run(service: FakeService, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EASEML_URL", service.url)
    monkeypatch.setenv("EASEML_API_KEY", KEY)

    def invoke(*arguments: str, stdin: str = "", expect: int = 0) -> Result:
        result = CliRunner().invoke(app, list(arguments), input=stdin)
        assert result.exit_code == expect, result.output + repr(result.exception)
        return result

    return invoke


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text("x,id,y\n1,7,a\n2,8,b\n")
    return path


def test_data_sets_are_listed_with_where_they_came_from(run):
    lines = run("data", "list").output.splitlines()
    assert lines[0].split() == ["id", "name", "state", "rows", "from", "since"]
    assert lines[1].split()[:5] == ["data_1", "wine", "ready", "-", "table.csv"]
    assert lines[2].split()[:5] == [
        "data_2",
        "prices",
        "ready",
        "1200",
        "https://lab.org/prices.csv",
    ]
    listed = json.loads(run("data", "list", "--json").output)
    assert [one["id"] for one in listed] == ["data_1", "data_2"]


def test_create_shows_what_was_inferred_and_starts(run, table: Path, service: FakeService):
    shown = run("app", "create", str(table), "--target", "y", "--set", "x=category", "--yes").stdout
    assert "a different one in every row" in shown
    assert "25.0%" in shown
    assert "1 models" in shown
    assert "easeml app watch app_1" in shown
    sent = json.loads(service.requests[-1][3])
    assert (sent["target"], sent["set"]) == ("y", {"x": "category"})


def test_create_gives_one_json_document_and_sends_every_option(
    run, table: Path, service: FakeService
):
    options = [
        "--drop",
        "id",
        "--keep",
        "x",
        "--name",
        "my app",
        "--models",
        "forest, line",
        "--exclude",
        "dummy",
    ]
    options += [
        "--max-tasks",
        "6",
        "--max-seconds",
        "90",
        "--objective",
        "accuracy",
        "--yes",
        "--json",
    ]
    assert json.loads(run("app", "create", str(table), *options).stdout)["id"] == "app_1"
    sent = json.loads(service.requests[-1][3])
    assert sent["target"] is None
    assert (sent["drop"], sent["keep"], sent["name"]) == (["id"], ["x"], "my app")
    assert (sent["models"], sent["exclude"]) == (["forest", "line"], ["dummy"])
    assert (sent["max_tasks"], sent["max_seconds"], sent["objective"]) == (6, 90.0, "accuracy")


def test_each_of_several_targets_gets_an_application_that_is_not_told_the_others(
    run, table: Path, service: FakeService
):
    targets = ("--target", "x", "--target", "y", "--target", "z")
    shown = run("app", "create", str(table), *targets, "--drop", "id", "--keep", "z", "--yes")
    assert shown.stdout.count("easeml app watch app_") == 3
    sent = [json.loads(one[3]) for one in service.requests if one[:2] == _CREATE]
    assert len(service.uploads) == 1
    assert [one["target"] for one in sent] == ["x", "y", "z"]
    assert [one["drop"] for one in sent] == [["id", "y"], ["id", "x"], ["id", "x", "y"]]
    assert [one["name"] for one in sent] == ["table: x", "table: y", "table: z"]
    made = run("app", "create", str(table), *targets, "--name", "May", "--yes", "--json")
    assert len(json.loads(made.stdout)) == 3
    sent = [json.loads(one[3]) for one in service.requests if one[:2] == _CREATE]
    assert [one["name"] for one in sent[3:]] == ["May: x", "May: y", "May: z"]


def test_nothing_is_started_where_one_of_several_targets_cannot_be_predicted(
    run, table: Path, service: FakeService
):
    targets = ("--target", "x", "--target", "nowhere")
    refused = run("app", "create", str(table), *targets, "--yes", expect=2).stderr
    assert "Where: --target 'nowhere'" in refused
    assert not [one for one in service.requests if one[:2] == _CREATE]


def test_an_application_is_meant_by_its_name_wherever_its_id_is(run, service: FakeService):
    assert "app_1" in run("app", "show", "table").stdout
    assert "app_1" in run("app", "wait", "table").stdout
    run("job", "pause", "table")
    run("job", "list", "--app", "table")
    assert service.jobs_of == "app_1"


def test_a_key_that_only_predicts_needs_the_id(run):
    class MayOnlyPredict:
        def applications(self) -> None:
            raise NotAllowed("The scope of this key is predictions only.")

    client: Any = MayOnlyPredict()
    with pytest.raises(NotAllowed) as refused:
        application_id(client, "table")
    assert "Say the id of the application" in refused.value.remedy
    assert application_id(client, "app_0e2x7m4kq9d1v5b8ctn3")


def test_an_application_is_made_of_data_that_lies_elsewhere(run, service: FakeService):
    address = "https://lab.org/prices.csv"
    told = run("data", "add", address).stdout
    assert "Search on it: easeml app create data_2" in told
    for data in ("data_2", address):
        run("app", "create", data, "--target", "y", "--yes")
        assert json.loads(service.requests[-1][3])["dataset_id"] == "data_2"
    asked = "SELECT size, price FROM sales"
    run("app", "create", "postgresql://warehouse", "--query", asked, "--yes")
    [*_, fetched] = [one for one in service.requests if one[1].endswith("/origins")]
    assert json.loads(fetched[3])["query"] == asked
    assert service.uploads == []


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["app", "create", "missing.csv", "--yes"], 2, "missing.csv"),
        (["app", "create", "data_9", "--yes"], 2, "Look at the list"),
        (["app", "create", "data_2", "--header", "--yes"], 2, "is read already"),
        (["app", "create", "rows.csv", "--query", "SELECT 1", "--yes"], 2, "Only a database"),
        (["app", "create", "missing.csv"], 2, "no terminal to ask"),
        (["app", "create", "missing.csv", "--json"], 2, "no terminal to ask"),
        (["app", "create", "missing.csv", "--yes", "--set", "x"], 2, "COLUMN=TYPE"),
        (["app", "create"], 2, "Missing argument"),
        (
            ["app", "show", "app_9"],
            2,
            "There are: prices (app_2), prices (app_3), table (app_1). All: easeml app list",
        ),
        (["app", "show", "prices"], 2, "Say which by its id: app_2, app_3."),
        (["app", "show", "tabel"], 2, "Did you mean table (app_1)?"),
        (["app", "create", "missing.csv", "--objective", "a", "--objective", "b"], 2, "one value"),
        (
            ["schema", "infer", "missing.csv", "--target=a", "--target", "b"],
            2,
            "--target takes one",
        ),
        (["app", "create", "data_2", "--target=x", "--target=x", "--yes"], 2, "named twice: x, x"),
        (["app", "wait", "app_1", "--until", "tomorrow"], 2, "tomorrow"),
        (["app", "wait", "app_1", "--until", "converged", "--timeout", "0"], 3, "not there yet"),
    ],
)
def test_errors_have_a_message_a_remedy_and_an_exit_code(
    run, arguments: list[str], code: int, says: str
):
    result = run(*arguments, expect=code)
    assert says in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert "Traceback" not in result.output


def test_not_signed_in_and_unreachable(run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EASEML_API_KEY", "wrong")
    assert "Remedy: Sign in with: easeml login." in run("app", "show", "app_1", expect=4).stderr
    monkeypatch.setenv("EASEML_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("easeml.client._sync.transport.backoff", lambda _: 0.001)
    assert "easeml up" in run("app", "show", "app_1", expect=5).stderr


def test_an_impossible_wait_is_a_no(run, service: FakeService):
    service.looks_to_model, service.looks_to_end = 10**9, 1
    assert "found no model" in run("app", "wait", "app_1", expect=1).stderr


def test_unreadable_data_is_invalid_input(run, table: Path, service: FakeService):
    service.version_error = "Row 3 has 2 cells."
    assert "table.csv" in run("app", "create", str(table), "--yes", expect=2).stderr


def test_wait_show_watch_and_lists(run, service: FakeService):
    assert "first-model reached, serves Random forest" in run("app", "wait", "app_1").stdout
    assert "optimistic" in run("app", "show", "app_1").stdout
    service.looks = service.looks_to_end
    assert "searching, resting" in run("app", "watch", "app_1").stdout
    assert json.loads(run("app", "watch", "app_1", "--json").stdout)["job"]["state"] == "resting"
    assert [task["id"] for task in json.loads(run("task", "list", "--json").stdout)] == [
        f"task_{n}" for n in range(5)
    ]
    assert "task_4" in run("task", "list", "--job", "app_1").stdout


def test_decisions_are_told_with_their_runners_up(run):
    shown = run("decisions", "table").stdout
    assert "table: Random forest 2." in shown
    assert "rule: most gain (gain-per-cost); it reached a score of 0.810 in 3 s" in shown
    assert "2. line: 0.001" in shown
    told = json.loads(run("decisions", "--json").stdout)
    assert [step["number"] for step in told] == [1, 2]
    assert told[0]["candidates"][1]["name"] == "line"


def test_new_decisions_are_followed(run, monkeypatch: pytest.MonkeyPatch, service: FakeService):
    def interrupted(seconds: float) -> None:
        if len(service.requests) > 1:
            raise KeyboardInterrupt

    monkeypatch.setattr("easeml.cli.decisions.time.sleep", interrupted)
    lines = run("decisions", "--follow", "--json", expect=130).stdout.splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1, 2]
    assert len(service.requests) == 2


def test_a_job_is_found_by_its_application(run, service: FakeService):
    assert "job_1 is paused." in run("job", "pause", "app_1").stdout
    assert json.loads(run("job", "stop", "job_1", "--json").stdout)["state"] == "stopped"


def test_predict_csv_adds_a_column_and_keeps_the_rest(run, tmp_path: Path):
    source, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    source.write_text('name;x;prediction\n"a;b";1;old\n\nc;2;\n', encoding="utf-8")
    result = run("predict", "app_1", str(source), "--out", str(out), expect=1)
    assert "2 rows were sent, and 3 predictions" in result.stderr
    source.write_text('name;x;prediction\n"a;b";1;old\nc;2;\n', encoding="utf-8")
    result = run("predict", "app_1", str(source), "--out", str(out))
    assert result.stdout == ""
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert [row["name"] for row in rows] == ["a;b", "c"]
    assert [row["prediction_"] for row in rows] == ["class 0", "class 1"]
    assert "2 predictions of Random forest" in result.stderr


def test_a_table_without_names_keeps_its_first_row(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: FakeService
):
    monkeypatch.setattr("easeml.cli.predicting.ROWS_AT_ONCE", 8)
    source = tmp_path / "rows.csv"
    source.write_text("".join(f"{row}.5;{row % 2}.25;a\n" for row in range(12)))
    rows = list(csv.reader(run("predict", "app_1", str(source)).stdout.splitlines(), delimiter=";"))
    assert rows[0] == ["column 1", "column 2", "column 3", "prediction"]
    assert [row[0] for row in rows[1:]] == [f"{row}.5" for row in range(12)]


def test_a_long_table_is_predicted_in_parts_and_keeps_its_rows(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: FakeService
):
    monkeypatch.setattr("easeml.cli.predicting.ROWS_AT_ONCE", 2)
    source = tmp_path / "rows.csv"
    source.write_text('name,x\n"a,a",1\nb,2\nc,3\n', encoding="utf-8")
    before = len(service.requests)
    printed = run("predict", "app_1", str(source)).stdout
    rows = list(csv.reader(printed.splitlines(keepends=True)))
    assert [row[0] for row in rows] == ["name", "a,a", "b", "c"]
    assert [row[2] for row in rows] == ["prediction", "class 0", "class 1", "class 0"]
    asked = [request for request in service.requests[before:] if request[1].endswith("/predict")]
    assert len(asked) == 2


def test_rows_are_named_by_their_request_and_their_number_in_it(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("easeml.cli.predicting.ROWS_AT_ONCE", 2)
    source, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    source.write_text("name,row\na,1\nb,2\nc,3\n", encoding="utf-8")
    run("predict", "app_1", str(source), "--out", str(out), "--name-rows")
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["row"] for row in rows] == ["0", "1", "0"]
    assert [row["row_"] for row in rows] == ["1", "2", "3"]
    first, second, third = (row["request_id"] for row in rows)
    assert first == second != third
    shown = json.loads(run("predict", "app_1", str(source), "--json").stdout)
    assert shown["request_id"] == ""  # each part has its own
    refused = run("predict", "app_1", str(source), "--name-rows", "--detach", expect=2)
    assert "Leave out --detach or --name-rows" in refused.stderr


def test_a_long_table_with_its_answers_is_sent_at_once_whatever_its_form(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: FakeService
):
    """The quality that the service tells is that of all rows."""
    monkeypatch.setattr("easeml.cli.predicting.ROWS_AT_ONCE", 2)
    lines = tmp_path / "rows.jsonl"
    lines.write_text('{"x": 1, "y": "a"}\n{"x": 2, "y": "b"}\n{"x": 3, "y": "a"}\n')
    table = tmp_path / "rows.csv"
    table.write_text("x,y\n1,a\n2,b\n3,a\n")
    for source in (lines, table):
        before = len(service.requests)
        run("predict", "app_1", str(source))
        asked = [one for one in service.requests[before:] if one[1].endswith("/predict")]
        assert len(asked) == 1, source


@pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
def test_parts_of_a_table_hold_each_row_once_as_it_is_written(ending: str):
    rows = ['1,"a ""b"""', '2,"x\ny"', '"",', "4,d", '5,"e,f"']
    text = "\n".join(["n,t", *rows]) + ending
    for size in range(1, 7):
        parts = [part.decode() for part in split_csv(text.encode(), size)]
        assert all(part.startswith("n,t\n") for part in parts)
        assert "".join(part.removeprefix("n,t\n") for part in parts) == text.removeprefix("n,t\n")
        assert len(parts) == -(-len(rows) // size)


def test_rows_of_a_report_are_sent_without_what_stands_around_them(tmp_path: Path):
    source = tmp_path / "report.csv"
    rows = "".join(f"K{n};{n},5;x\n" for n in range(20))
    report = f"Bericht;;\nKunde;Größe;z\n{rows}Summe;190;\n"
    source.write_bytes(report.encode("cp1252"))
    sent = rows_of_table(source)
    assert sent.header == ["Kunde", "Größe", "z"]
    assert len(sent.cells) == 20
    assert sent.content.decode() == f"Kunde;Größe;z\n{rows}"


def test_predict_json_lines(run, tmp_path: Path):
    source = tmp_path / "rows.jsonl"
    source.write_text('{"x": 1}\n\n{"x": 2, "z": "two, three"}\n')
    assert (
        run("predict", "app_1", str(source)).stdout
        == 'x,z,prediction\n1,,class 0\n2,"two, three",class 1\n'
    )
    assert (
        json.loads(run("predict", "app_1", str(source), "--json").stdout)["model_name"] == "forest"
    )
    listed = tmp_path / "rows.json"
    for text in ('[{"x": 1}, {"x": 2}]', '{"rows": [{"x": 1}, {"x": 2}]}'):
        listed.write_text(text)
        assert run("predict", "app_1", str(listed)).stdout == "x,prediction\n1,class 0\n2,class 1\n"
    listed.write_text('[{"x": 1}, 2]')
    assert "row 1" in run("predict", "app_1", str(listed), expect=2).stderr
    source.write_text('{"x": 1}\n[2]\n')
    assert "line 2" in run("predict", "app_1", str(source), expect=2).stderr


def test_of_a_version_what_is_new_since_another_one_is_written(run, tmp_path: Path):
    run("data", "export", "ver_2", str(tmp_path / "all.csv"))
    run("data", "export", "ver_2", str(tmp_path / "new.csv"), "--since", "ver_1")
    assert json.loads((tmp_path / "all.csv").read_text()) == {"version": "ver_2", "since": None}
    assert json.loads((tmp_path / "new.csv").read_text()) == {"version": "ver_2", "since": "ver_1"}


def test_login_keeps_the_key_for_later_commands(run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("EASEML_API_KEY")
    run("app", "show", "app_1", expect=4)
    run("login", "ada", "--password-stdin", stdin="wrong\n", expect=4)
    run("login", "ada", "--password-stdin", stdin="", expect=2)
    assert "Signed in" in run("login", "ada", "--password-stdin", stdin="right password\n").stdout
    assert KEY in credentials_file().read_text()
    monkeypatch.delenv("EASEML_URL")
    assert json.loads(run("app", "show", "app_1", "--json").stdout)["id"] == "app_1"


def test_what_cannot_be_sent_is_wrong_use(run, table: Path):
    assert "cannot be sent" in run("task", "show", "a\nb", expect=2).stderr
    create = ("app", "create", str(table), "--target", "y", "--yes", "--max-seconds", "inf")
    assert "finite number" in run(*create, expect=2).stderr


def test_a_home_that_cannot_be_made_is_wrong_use(run, table: Path):
    assert str(table) in run("up", "--home", str(table / "home"), expect=2).stderr.replace("\n", "")


def test_a_setting_that_does_not_exist_is_wrong_use(run, tmp_path: Path):
    (tmp_path / "config.toml").write_text("workres = 3\n")
    answer = run("up", "--home", str(tmp_path), expect=2).stderr
    assert "no such setting" in answer
    assert "workres" in answer


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("pbs", 2, ("no executor 'pbs'", "There are: local, ray, slurm.")),
        ("slurm", 5, ("no srun", "from which jobs of Slurm are submitted")),
    ],
)
def test_an_executor_that_cannot_be_used_is_refused_before_the_start(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: int, said: tuple[str]
):
    monkeypatch.setenv("EASEML_EXECUTOR", name)
    monkeypatch.setenv("PATH", str(tmp_path))  # without programs
    answer = run("up", "--home", str(tmp_path / "home"), expect=code).stderr
    assert all(words in answer for words in said)


def test_a_time_beyond_the_calendar_is_shown_as_a_number():
    assert moment(1e308) == "1e+308"
    assert moment(None) == "-"


def test_rows_of_a_utf_16_file_and_of_long_cells_are_read():
    assert read_csv("a;b\n1;2\n".encode("utf-16"), "x.csv") == (["a", "b"], [["1", "2"]])
    assert read_csv(b"a\n" + b"x" * 200_000, "x.csv") == (["a"], [["x" * 200_000]])


def test_what_ends_an_application_is_asked_for_first(run):
    assert "no terminal to ask" in run("app", "delete", "app_1", expect=2).stderr


def test_sharing_says_one_thing(run):
    for options in ([], ["--role", "viewer", "--revoke"]):
        refused = run("app", "share", "app_1", "bob", *options, expect=2)
        assert "--role or --revoke" in refused.stderr


def test_a_limit_is_named(run):
    assert "Name a limit" in run("job", "limit", "job_1", expect=2).stderr
