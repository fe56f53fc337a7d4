"""Make the reference, ``docs/reference``, from what the code says about itself.

``python scripts/reference.py`` writes the pages; with ``--check`` it only compares (exit 1: stale).
"""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import typer
from rich.text import Text

from easeml.api.app import create_app
from easeml.cli.main import app as commands
from easeml.modules import Accepts, Module, load_registry
from easeml.schema import Schema
from easeml.settings import Settings

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
HEADER = (
    "<!-- Made by scripts/reference.py (`make docs`); change the code and run it again. -->\n\n"
)
BODY = "Body_"  # what FastAPI calls a body that it makes of a route's parameters
PAGE = "Page_"  # what FastAPI calls a page of a type: Page_Type_
KIND_TITLES = {"model": "Models", "transform": "Transforms", "objective": "Objectives"}


class Missing(Exception):
    """Something that users meet has no documentation text."""


def pages() -> dict[str, str]:
    """Return the text of every page by file name. Raises ``Missing``."""
    return {
        "commands.md": HEADER + commands_page(typer.main.get_command(commands)),
        "rest.md": HEADER + rest_page(openapi()),
        "modules.md": HEADER + modules_page(list(load_registry().modules)),
        "settings.md": HEADER + settings_page(),
    }


def openapi() -> dict[str, Any]:
    """Return the REST API's OpenAPI document; no store is opened for it."""
    nothing: Any = SimpleNamespace()
    return create_app(nothing, Settings.model_construct(), nothing).openapi()


def body_schema(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return a body's schema; one that FastAPI made of a route's parameters is put in place of its
    name.
    """
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][name] if name.startswith(BODY) else schema


# Commands


def leaves(group: Any, path: str = "easeml") -> list[tuple[str, Any]]:
    """Return (path, command) of every command that is not hidden, in the order of ``--help``."""
    found = []
    for name, command in group.commands.items():
        if command.hidden:
            continue
        here = f"{path} {name}"
        found += leaves(command, here) if hasattr(command, "commands") else [(here, command)]
    return found


def commands_page(root: Any) -> str:
    """Return the page of the command line."""
    parts = ["# Commands\n", f"{sentence(root.help, 'easeml')}\n"]
    for path, command in leaves(root):
        given = [p for p in command.params if not p.hidden and p.name != "help"]
        arguments = [p for p in given if p.param_type_name == "argument"]
        options = [p for p in given if p.param_type_name == "option"]
        usage = " ".join(
            [path, *map(argument_form, arguments), *(["[OPTIONS]"] if options else [])]
        )
        parts.append(f"## {path}\n\n{sentence(command.help, path)}\n\n```\n{usage}\n```\n")
        rows = [(f"`{argument_form(p)}`", parameter_text(p, path)) for p in arguments]
        rows += [(f"`{option_form(p)}`", parameter_text(p, path)) for p in options]
        if rows:
            parts.append(table(("argument or option", "meaning"), rows))
    return "\n".join(parts)


def argument_form(parameter: Any) -> str:
    """Return an argument as the usage line shows it."""
    name = (parameter.metavar or parameter.name.upper()).strip("[]")
    return name if parameter.required else f"[{name}]"


def option_form(parameter: Any) -> str:
    """Return an option with its short form and the kind of value it takes."""
    names = ", ".join(sorted(parameter.opts, key=len))
    if parameter.is_flag:
        return names
    choices = getattr(parameter.type, "choices", None) if hasattr(parameter, "type") else None
    value = (
        "|".join(str(getattr(c, "value", c)) for c in choices)
        if choices
        else parameter.name.strip("_").upper()
    )
    return f"{names} {value}" + (" ..." if parameter.multiple else "")


def parameter_text(parameter: Any, path: str) -> str:
    """Return what a parameter means, with its default and variable where it has them."""
    said = sentence(parameter.help, f"{path}: {parameter.name}")
    if parameter.param_type_name == "option" and parameter.required:
        said += " Required."
    default = parameter.default
    if isinstance(default, str | int | float) and not isinstance(default, bool):
        said += f" Default: `{getattr(default, 'value', default)}`."
    if parameter.envvar:
        said += f" Variable: `{parameter.envvar}`."
    return said


# REST


def rest_page(document: dict[str, Any]) -> str:
    """Return the page of the REST API."""
    parts = [
        "# REST API\n",
        "Every route but those marked *open* asks for a key: `Authorization: Bearer KEY`, `X-API-Key: KEY`, or HTTP "
        "basic authentication with the key as password. Errors are problem documents (RFC 9457) with `code`, `where` "
        "and `remedy`. A *page* is an object with `items` and `next`; send `next` as `after` for the page that "
        "follows, until it is null. The service describes itself at `/api/v1/openapi.json`.\n",
    ]
    for path, item in document["paths"].items():
        for method, operation in item.items():
            parts.append(operation_text(document, path, method, operation))
    parts.append("# Types\n")
    schemas = document["components"]["schemas"]
    named = sorted(name for name in schemas if not name.startswith((BODY, PAGE)))
    for name in named:
        parts.append(type_text(name, schemas[name]))
    return "\n".join(parts)


def operation_text(
    document: dict[str, Any], path: str, method: str, operation: dict[str, Any]
) -> str:
    """Return the section of one route."""
    title = f"{method.upper()} {path}"
    about = sentence(operation.get("description") or spoken_summary(operation), title)
    mark = " *Open.*" if operation.get("security") == [] else ""
    parts = [f"## {title}\n\n{about}{mark}\n"]
    rows = []
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "path":
            continue
        said = sentence(parameter.get("description"), f"{title}: {parameter['name']}")
        required = "yes" if parameter.get("required") else "no"
        rows.append(
            (
                f"`{parameter['name']}`",
                parameter["in"],
                type_name(parameter["schema"]),
                required,
                said,
            )
        )
    if rows:
        parts.append(table(("parameter", "in", "type", "required", "meaning"), rows))
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"Body: `{media}`, {type_name(body_schema(document, content['schema']))}\n")
    for status, answer in operation["responses"].items():
        if status == "default":
            continue
        contents = [
            f"`{m}`, {type_name(c.get('schema', {}))}" for m, c in answer.get("content", {}).items()
        ]
        parts.append(
            f"Answer: {status}" + (f", {'; '.join(contents)}" if contents else ", no body") + "\n"
        )
    return "\n".join(parts)


def spoken_summary(operation: dict[str, Any]) -> str:
    """Return the summary that somebody wrote; FastAPI makes one from the function's name."""
    return operation.get("summary", "") if operation["operationId"] == "predict" else ""


def type_text(name: str, schema: dict[str, Any]) -> str:
    """Return the section of one type: its fields, or the words of an enumeration."""
    if "enum" in schema:
        words = ", ".join(f"`{word}`" for word in schema["enum"])
        return f"## {name}\n\n{sentence(schema.get('description'), name)}\n\nOne of {words}."
    if schema.get("type") == "array":
        said = sentence(schema.get("description"), name)
        return f"## {name}\n\n{said}\n\nA {type_name(schema)}."
    required = schema.get("required", [])
    rows = [
        (f"`{field}`", type_name(about), "yes" if field in required else "no", default_text(about))
        for field, about in schema["properties"].items()
    ]
    said = sentence(schema.get("description"), name)
    return f"## {name}\n\n{said}\n\n{table(('field', 'type', 'required', 'default'), rows)}"


def default_text(schema: dict[str, Any]) -> str:
    """Return a field's default as JSON would show it."""
    default = schema.get("default")
    return "" if default in (None, "") else f"`{default}`"


def type_name(schema: dict[str, Any]) -> str:
    """Return a schema in a few words; types of the document by name."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"page of {name.removeprefix(PAGE).strip('_')}" if name.startswith(PAGE) else name
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return " or ".join(type_name(option) for option in options)
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    return structure_name(schema)


def structure_name(schema: dict[str, Any]) -> str:
    """Return a list, an object or a plain type in a few words."""
    if schema.get("type") == "array":
        return f"list of {type_name(schema.get('items', {}))}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"object of {type_name(schema['additionalProperties'])}"
    if "properties" in schema:
        fields = (f"`{name}` ({type_name(about)})" for name, about in schema["properties"].items())
        return f"object with {', '.join(fields)}"
    return schema.get("format") or schema.get("type", "any")


# Modules


def modules_page(modules: list[Module]) -> str:
    """Return the page of the knowledge base."""
    by_name = {module.name: module for module in modules}
    parts = [
        "# Modules\n",
        "What comes with easeml, by kind and in the order in which modules that fit are offered.\n",
    ]
    for kind, title in KIND_TITLES.items():
        chosen = sorted(
            (m for m in modules if m.kind == kind), key=lambda module: (module.rank, module.name)
        )
        rows = [
            (
                f"`{m.name}`",
                m.kind,
                sentence(m.title, m.name).rstrip("."),
                where_it_fits(m, by_name),
            )
            for m in chosen
        ]
        parts.append(f"## {title}\n\n{table(('name', 'kind', 'title', 'where it fits'), rows)}")
    return "\n".join(parts)


def where_it_fits(module: Module, by_name: dict[str, Module]) -> str:
    """Return what a module takes, at the start of its chain of transforms, and gives."""
    first = by_name[module.transforms[0]] if module.transforms else module
    takes = nodes_text(first.schema_in)
    if module.kind == "objective":
        return f"applications that predict {takes}"
    through = (
        f", through {', then '.join(f'`{name}`' for name in module.transforms)}"
        if module.transforms
        else ""
    )
    if module.replaces:
        through = f", in place of {' or '.join(f'`{name}`' for name in module.replaces)}"
    return f"from {takes}{through}, to {nodes_text(module.schema_out)}"


def nodes_text(accepts: Accepts | None) -> str:
    """Return the nodes of the schemas of one side in words."""
    schemas = () if accepts is None else accepts.schemas
    return " or ".join(map(schema_text, schemas)) or "anything"


def schema_text(schema: Schema) -> str:
    """Return the nodes of a schema in words."""
    return ", ".join(
        f"{'any number of ' if node.repeat else ''}{node.name} ({node.type}"
        + (f" {'×'.join(map(str, node.dim))}" if node.dim else "")
        + ")"
        for node in schema.nodes.values()
    )


# Settings


def settings_page() -> str:
    """Return the page of the settings."""
    prefix = Settings.model_config.get("env_prefix", "")
    rows = []
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = "empty" if default == "" else f"`{default}`"
        rows.append(
            (f"`{name}`", f"`{prefix}{name.upper()}`", shown, sentence(field.description, name))
        )
    about = (
        "Flags win over the environment, that over `config.toml` in the home, that over defaults. "
    )
    units = "Sizes are in bytes, times in seconds."
    return (
        f"# Settings\n\n{about}{units}\n\n{table(('name', 'variable', 'default', 'meaning'), rows)}"
    )


# Text


def sentence(said: str | None, what: str) -> str:
    """Return a documentation text on one line, as a sentence, for Markdown. Raises ``Missing``."""
    line = " ".join(Text.from_markup(said or "").plain.split()).replace("``", "`")
    if not line:
        raise Missing(f"{what} has no documentation text.")
    line = line[0].upper() + line[1:]
    return line if line.endswith((".", "!", "?")) else f"{line}."


def table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [columns, ("---",) * len(columns), *rows]
    return (
        "\n".join(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
        )
        + "\n"
    )


def main() -> int:
    """Write what is stale, or with ``--check`` name it."""
    FOLDER.mkdir(exist_ok=True)
    found = {FOLDER / name: text for name, text in pages().items()}
    stale = [
        path for path, text in found.items() if not path.exists() or path.read_text("utf-8") != text
    ]
    for path in stale:
        print(path.name)
        if "--check" not in sys.argv:
            path.write_text(found[path], "utf-8")
    return int(bool(stale) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
