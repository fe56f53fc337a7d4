"""Documentation says what the code does: current reference, examples that parse, words of the
vocabulary.
"""

import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from easeml.cli.main import app

ROOT = Path(__file__).resolve().parents[2]


def script(name: str) -> Any:
    """Return a script of the repository as a module."""
    spec = spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = script("reference")
wrap_prose = script("wrap_prose")
LONG_LINES_OF_PROSE = 0.05  # share; less with each page that is wrapped
GUIDES = [
    *ROOT.glob("*.md"),
    *sorted((ROOT / ".github").rglob("*.md")),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    *sorted((ROOT / "docs" / "extending").glob("*.md")),
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SHELL = {">", "<", "|", "&&"}  # where a command ends
MADE_IN_ITS_GUIDE = ["tool", "contradictions"]  # the tool that tool.md writes
SYNONYMS = {"experiment", "trial", "run", "project", "workspace"}


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return reference.pages()


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return reference.openapi()


@pytest.mark.parametrize("name", ["commands.md", "rest.md", "modules.md", "settings.md"])
def test_the_committed_reference_is_current(pages: dict[str, str], name: str):
    committed = (ROOT / "docs" / "reference" / name).read_text("utf-8")
    assert committed == pages[name], "Run `make docs` and commit what it writes."


def test_the_reference_is_the_same_everywhere(
    pages: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("EASEML_PORT", "1234")
    monkeypatch.setenv("EASEML_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "20")
    assert reference.pages() == pages
    assert not [
        name for name, text in pages.items() if str(Path.home()) in text or str(ROOT) in text
    ]


@pytest.mark.parametrize("said", [None, "", "  \n"])
def test_what_has_no_documentation_text_is_refused(said: str | None):
    with pytest.raises(reference.Missing, match="easeml app"):
        reference.sentence(said, "easeml app")


def test_an_undocumented_route_command_module_or_setting_is_refused(
    document: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    route = {"operationId": "x", "summary": "Made Up", "responses": {}}
    with pytest.raises(reference.Missing, match="GET /x"):
        reference.operation_text(document, "/x", "get", route)
    made = typer.Typer(help="Made up.")
    made.command()(lambda: None)
    made.command("other", help="Documented.")(lambda: None)
    with pytest.raises(reference.Missing, match="easeml"):
        reference.commands_page(typer.main.get_command(made))
    monkeypatch.setattr(reference.Settings.model_fields["port"], "description", None)
    with pytest.raises(reference.Missing, match="port"):
        reference.settings_page()


def commands_in(text: str) -> Iterator[list[str]]:
    """Give the arguments of every ``easeml ...`` command in code blocks and code spans."""
    blocks = BLOCK.findall(text.replace("\\\n", " "))
    commands = [block for language, block in blocks if language in ("", "sh", "bash", "console")]
    lines = [line for block in commands for line in block.splitlines()]
    lines += re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    for line in lines:
        command = line.removeprefix("$ ").removeprefix(".venv/bin/")
        if command.startswith("easeml "):
            words = shlex.split(command, comments=True)[1:]
            yield from alternatives([*takewhile(lambda word: word not in SHELL, words)])


def alternatives(words: list[str]) -> Iterator[list[str]]:
    """Give a command for each of ``pause|resume|stop``."""
    position = next((number for number, word in enumerate(words) if "|" in word), None)
    if position is None:
        yield words
        return
    for word in words[position].split("|"):
        yield from alternatives([*words[:position], word, *words[position + 1 :]])


def parse(words: list[str]) -> None:
    """Parse a command without running it. Raises the command line's usage errors."""
    command: Any = typer.main.get_command(app)
    context: Any = None
    name = "easeml"
    while hasattr(command, "commands"):
        if not words:
            return  # only mentioned by its name
        context = command.make_context(name, list(words), parent=context, resilient_parsing=False)
        name, command, words = command.resolve_command(
            context, [*context._protected_args, *context.args]
        )
        assert not command.hidden, f"{name} is hidden"
    if words:
        command.make_context(name, list(words), parent=context)


EXAMPLES = [
    (guide.name, words)
    for guide in GUIDES
    for words in commands_in(guide.read_text("utf-8"))
    if words[:2] != MADE_IN_ITS_GUIDE
]


@pytest.mark.parametrize(
    ("guide", "words"), EXAMPLES, ids=[f"{guide}: {' '.join(words)}" for guide, words in EXAMPLES]
)
def test_commands_of_the_guides_exist_with_these_flags(
    guide: str, words: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("easeml.cli.named_applications.asked_for", str)  # no service is there
    parse(words)


def test_the_guides_hold_commands_and_the_parser_refuses_wrong_ones(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("easeml.cli.named_applications.asked_for", str)
    assert len(EXAMPLES) >= 10
    for wrong in (
        ["app", "creat", "x.csv"],
        ["app", "show", "ID", "--colour"],
        ["app", "wait", "ID", "--until", "x"],
    ):
        with pytest.raises(Exception, match=r"No such|is not one of|Invalid"):
            parse(wrong)


def test_help_of_every_command_can_be_shown():
    runner = CliRunner()
    for path, _ in reference.leaves(typer.main.get_command(app)):
        answer = runner.invoke(app, [*path.split()[1:], "--help"])
        assert answer.exit_code == 0, path


def names_in(document: dict[str, Any]) -> Iterator[str]:
    """Give every name of the REST API: path pieces, parameters, types, fields and tags."""
    for path, item in document["paths"].items():
        yield from path.strip("/").split("/")
        for operation in item.values():
            yield from operation.get("tags", ())
            yield from (parameter["name"] for parameter in operation.get("parameters", ()))
    for name, schema in document["components"]["schemas"].items():
        yield name
        yield from schema.get("properties", ())


def words_of(name: str) -> set[str]:
    """Return the words of a name in snake, kebab or camel case, lower and in the singular."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return {word.lower().removesuffix("s") for word in words}


def test_the_rest_api_uses_no_synonym_of_the_vocabulary(document: dict[str, Any]):
    found = {name for name in names_in(document) if words_of(name) & SYNONYMS}
    assert not found


@pytest.mark.parametrize("name", ["runs", "run_id", "NewTrial", "project-name", "Workspaces"])
def test_synonyms_are_found_in_any_spelling(name: str):
    assert words_of(name) & SYNONYMS


@pytest.mark.parametrize("name", ["running", "trained", "task_id", "projection"])
def test_other_words_are_not_taken_for_synonyms(name: str):
    assert not words_of(name) & SYNONYMS


def test_the_walks_through_the_house_name_what_there_is():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    walks = text.split("## Walks through the house\n")[1].split("\n## ")[0]
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_.]+?\.(?:py|js|md|html))(?:: (\w+))?`", walks)
    assert len(named) > 40
    for file, name in named:
        folder = ROOT if file.startswith(("docs/", "tests/")) else ROOT / "src" / "easeml"
        assert (folder / file).is_file(), file
        source = (folder / file).read_text("utf-8")
        defined = rf"^\s*(?:export )?(?:async )?(?:def|class|function) {name}\b|^{name}\b"
        assert not name or re.search(defined, source, re.MULTILINE), f"{file}: {name}"
    folders = re.findall(r"`((?:[a-z_]+/)+[a-z_]+)`", walks)
    assert all((ROOT / "src" / "easeml" / folder).is_dir() for folder in folders), folders


def test_every_room_stands_in_the_table_of_floors_in_their_order():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    floors = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    rooms = [room for floor in floors for room in floor.split(" | ")]
    sources = ROOT / "src" / "easeml"
    assert {*rooms} == {path.stem for path in sources.iterdir() if path.stem[0] not in "_."}
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = text.split("## Rooms and floors\n")[1].split("\n## ")[0].splitlines()
    told = {
        room: number
        for number, line in enumerate(table)
        for room in re.findall(r"(?:\| | · )`(\w+)`", line)
    }
    assert {*told} == {*rooms}
    numbers = [told[room] for room in rooms]
    assert numbers == sorted(numbers)


def test_prose_is_wrapped_and_means_the_same():
    lines, long = 0, []
    for page in wrap_prose.pages():
        text = wrap_prose.wrapped(page.read_text("utf-8"))
        assert wrap_prose.wrapped(text) == text
        assert "".join(text.split()) == "".join(page.read_text("utf-8").split())
        shown = page.read_text("utf-8").splitlines()
        wrapped = {*text.splitlines()}
        lines += len(wrapped)
        long += [(page.name, line) for line in shown if len(line) > 100 and line not in wrapped]
    assert len(long) / lines <= LONG_LINES_OF_PROSE, "Run scripts/wrap_prose.py."


@pytest.mark.parametrize(
    "kept",
    [
        "| a table | of " + "words " * 30 + "|",
        "```sh\neaseml " + "--flag " * 30 + "\n```",
        "# A heading of " + "words " * 30 + "more",
        "A line that ends here  \nand another.",
        "- an item\n    - in an item\n\nA paragraph.",
    ],
)
def test_what_is_no_prose_stays(kept: str):
    assert wrap_prose.wrapped(kept + "\n") == kept + "\n"


def test_paragraphs_are_filled_and_code_and_links_stay_whole():
    code = "`easeml app create data.csv --target quality`"
    wrapped = wrap_prose.wrapped("- " + f"words {code} [a link](of/words.md) " * 6 + "\n")
    lines = wrapped.splitlines()
    assert all(len(line) <= 100 for line in lines)
    assert [line[:2] for line in lines] == ["- ", *["  "] * (len(lines) - 1)]
    assert wrapped.count(code) == wrapped.count("[a link](of/words.md)") == 6


def test_every_decision_is_listed_in_order():
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\]\((0\d+-[\w-]+\.md)\)", (folder / "README.md").read_text("utf-8"))
    assert listed == sorted(path.name for path in folder.glob("0*.md"))
