"""Make the methods of the client that only pass on from the operations of the REST API.

``python scripts/client.py`` writes ``client/_async/operations.py`` and its synchronous twin; with
``--check`` it only compares (exit 1: stale).
"""

import inspect
import sys
import textwrap
from collections import defaultdict
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

sys.path.insert(0, str(Path(__file__).resolve().parent))

import unasync
from pydantic import AwareDatetime, BaseModel

from easeml.api.app import OPERATIONS
from easeml.api.operations import ONCE, Operation, is_body, name_in_query
from easeml.contract.resources import Page

TARGET = unasync.CLIENT / "_async" / "operations.py"
HEAD = '''"""What the client asks, an operation a method.

Made from the operations of the API by scripts/client.py: change these, then run the script.
"""

'''
CLASS = '''class AsyncOperations(AsyncCalls):
    """The use cases of the service that need no more than to be asked."""
'''
WIDTH = 89  # of docstrings: 100 columns less their place and quotes
PAGING = ("after", "limit")  # what a method that gives a whole list takes care of


def text() -> str:
    """Return the source of the methods, formatted."""
    imports: defaultdict[str, set[str]] = defaultdict(set)
    imports["easeml.client._async.calls"].add("AsyncCalls")
    methods = [method(operation, imports) for operation in OPERATIONS]
    lines = [f"from {module} import {', '.join(sorted(imports[module]))}" for module in imports]
    source = HEAD + "\n".join(lines) + "\n\n\n" + CLASS + "\n" + "\n\n".join(methods) + "\n"
    return unasync.formatted(source, TARGET.name)


def method(operation: Operation, imports: defaultdict[str, set[str]]) -> str:
    """Return the source of one method, and note what it needs."""
    item = item_of(operation)
    path = f'f"{operation.path}"' if "{" in operation.path else f'"{operation.path}"'
    answer = spelled(item or operation.answer, imports)
    taken = arguments(operation, imports, paged=item is not None)
    docstring = spoken(operation.about, paged=item is not None)
    about = textwrap.indent(f'"""{docstring}"""', " " * 8)
    if item is not None:
        imports["collections.abc"].add("AsyncIterator")
        head = f"    def {operation.name}({taken}) -> AsyncIterator[{answer}]:\n"
        return f"{head}{about}\n        return self._list({answer}, {path}{query(operation)})"
    if operation.listed is not None:
        item = spelled(operation.listed, imports)
        head = f"    async def {operation.name}({taken}) -> list[{item}]:\n"
        asked = f"await self._get({answer}, {path}{query(operation)})"
        return f"{head}{about}\n        return ({asked}).items"
    head = f"    async def {operation.name}({taken}) -> {answer}:\n"
    return f"{head}{about}\n{asking(operation, answer, path, imports)}"


def asking(
    operation: Operation, answer: str, path: str, imports: defaultdict[str, set[str]]
) -> str:
    """Return the lines that ask and return the answer."""
    if operation.method == "GET":
        return f"        return await self._get({answer}, {path}{query(operation)})"
    lines, body = body_of(operation, imports)
    if ONCE in [one.name for one in operation.parameters]:
        assert operation.method == "POST"  # what makes a thing
        call = f"self._create({answer}, {path}, key={ONCE}{body and f', request={body}'})"
    else:
        sent = f", {body}.model_dump(mode='json')" if lines or operation.whole else f", {body}"
        verb = "" if operation.method == "POST" else f", method='{operation.method}'"
        once = "" if operation.repeatable else ", repeatable=False"
        passed = f"{path}{sent if body else ''}{verb}{once}"
        nothing = operation.answer is None
        call = f"self._do({passed})" if nothing else f"self._send({answer}, {passed})"
    returned = "" if operation.answer is None else "return "
    return "".join(f"        {line}\n" for line in lines) + f"        {returned}await {call}"


def body_of(operation: Operation, imports: defaultdict[str, set[str]]) -> tuple[list[str], str]:
    """Return the lines that make the body, and the expression that it is then."""
    for parameter in operation.parameters:
        if is_body(parameter.annotation):
            if operation.whole:
                return [], parameter.name
            imports["easeml.client.answers"].add("made_request")
            model = spelled(parameter.annotation, imports)
            fields = ", ".join(f"{name}={name}" for name in parameter.annotation.model_fields)
            return [f"request = made_request({model}, {fields})"], "request"
    names = queried(operation)
    return [], "{" + ", ".join(f'"{name}": {name}' for name in names) + "}" if names else ""


def arguments(operation: Operation, imports: defaultdict[str, set[str]], *, paged: bool) -> str:
    """Return the parameters of a method: by place or by name, as the use case has them."""
    by_place, by_name = ["self"], []
    for parameter in operation.parameters:
        if paged and parameter.name in PAGING:
            continue
        if is_body(parameter.annotation) and not operation.whole:
            for name, field in parameter.annotation.model_fields.items():
                given = f"{name}: {spelled(field.annotation, imports)}"
                if field.is_required():
                    by_place.append(given)
                    continue
                default = field.get_default(call_default_factory=True)
                if default == []:  # a list would be the same one for all calls
                    imports["collections.abc"].add("Sequence")
                    given, default = given.replace("list[", "Sequence[", 1), ()
                by_name.append(f"{given} = {written(default)}")
            continue
        given = f"{parameter.name}: {spelled(parameter.annotation, imports)}"
        if parameter.default is inspect.Parameter.empty:
            by_place.append(given)
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY or parameter.name == ONCE:
            by_name.append(f"{given} = {parameter.default!r}")
        else:
            by_place.append(f"{given} = {parameter.default!r}")
    return ", ".join([*by_place, *(["*", *by_name] if by_name else [])])


def query(operation: Operation) -> str:
    """Return the arguments that put the parameters into the query, by their names there."""
    called = {one.name: name_in_query(one) for one in operation.parameters}
    return "".join(f", {called[name]}={name}" for name in queried(operation))


def queried(operation: Operation) -> list[str]:
    """Return the parameters that are neither in the path nor the body, the header or the paging."""
    is_list = item_of(operation) is not None
    return [
        one.name
        for one in operation.parameters
        if not operation.in_path(one.name)
        and not is_body(one.annotation)
        and one.name != ONCE
        and not (is_list and one.name in PAGING)
    ]


def item_of(operation: Operation) -> Any:
    """Return the type of the items of the pages that a method goes through, else None."""
    if operation.by_page or operation.listed is not None:
        return None
    return paged_of(operation.answer)


def paged_of(answer: Any) -> Any:
    """Return the type of the items of a page; None for an answer that is none."""
    found = getattr(answer, "__pydantic_generic_metadata__", {})
    return found["args"][0] if found.get("origin") is Page else None


def written(default: Any) -> str:
    """Return a default as it is written; of an enumeration, callers give the text."""
    return repr(default.value if isinstance(default, StrEnum) else default)


def spelled(hint: Any, imports: defaultdict[str, set[str]]) -> str:
    """Return a type as source, and note what has to be imported for it."""
    origin, inner = get_origin(hint), get_args(hint)
    item = paged_of(hint)
    if item is not None:
        imports[Page.__module__].add(Page.__name__)
        return f"{Page.__name__}[{spelled(item, imports)}]"
    if origin is Annotated:
        return spelled(inner[0], imports)
    if origin in (Union, UnionType):
        return " | ".join(spelled(option, imports) for option in inner)
    if origin is not None and origin is not Literal:
        return f"{origin.__name__}[{', '.join(spelled(one, imports) for one in inner)}]"
    return named(hint, imports)


def named(hint: Any, imports: defaultdict[str, set[str]]) -> str:
    """Return the name of a plain type, and note what has to be imported; states are strings."""
    if hint is type(None) or hint is None:
        return "None"
    if hint is AwareDatetime:
        imports["datetime"].add("datetime")
        return "datetime"
    if get_origin(hint) is Literal or issubclass(hint, str):
        return "str"
    if issubclass(hint, BaseModel):
        imports[hint.__module__].add(hint.__name__)
    return hint.__name__


def spoken(about: str, *, paged: bool) -> str:
    """Return the docstring of a use case as one of the client, in lines that fit."""
    if paged:  # the method gives the whole list, however many pages it has
        about = about.replace("Return a page of", "Give", 1)
    filled = [textwrap.fill(part, WIDTH, break_on_hyphens=False) for part in about.split("\n\n")]
    text = "\n\n".join(filled)
    return text if "\n" not in text else text + "\n"


def main() -> int:
    """Write what is stale, or with ``--check`` name it."""
    found = text()
    is_stale = not TARGET.exists() or TARGET.read_text(encoding="utf-8") != found
    if is_stale:
        print(TARGET)
        if "--check" not in sys.argv:
            TARGET.write_text(found, encoding="utf-8")
    twins = unasync.main()
    return int(is_stale and "--check" in sys.argv) or twins


if __name__ == "__main__":
    sys.exit(main())
