"""Items and answers as files: Label Studio's JSON, and CSV, both ways."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from easeml.contract.work import WorkFile, WorkImported, WorkRefused
from easeml.errors import EasemlError, InvalidInput
from easeml.service.access.caller import Caller
from easeml.service.answers import standing
from easeml.service.work import answers, kept_order, queue
from easeml.store import Store
from easeml.store.records import WorkItem

Form = Annotated[str, Field(description="label-studio, or csv")]
FORMS = ("label-studio", "csv")
_MOST_BYTES = 20_000_000
_CONTROL = "answer"  # name of the control tag in Label Studio
_COLUMNS = ("item", "kind", "row", "column", "question", "given", "suggested", "answer")


@dataclass(frozen=True, slots=True)
class _Answered:
    """An answer of a file: its place there, the item's id, and the value."""

    place: str
    item_id: str
    value: str


def export(
    store: Store, caller: Caller, application_id: str, *, format: Form = "label-studio"
) -> WorkFile:
    """Return the open and the answered items of an application as the text of a file.

    Raises ``NotFound``, ``InvalidInput`` for another format.
    """
    _check_form(format)
    now = kept_order.now(store, caller, application_id)
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        open_items = now.of(queue.open_items(tables, application))
        items = queue.ordered(tables, application, open_items)
        items += queue.answered_items(tables, application)
        said = standing.settled(tables, items)
    write = {"label-studio": _label_studio, "csv": _csv}[format]
    return WorkFile(format=format, text=write(items, said), items=len(items))


def take(
    store: Store,
    caller: Caller,
    application_id: str,
    *,
    filename: Annotated[str, Field(max_length=1000, description="its ending tells the format")],
    text: Annotated[str, Field(max_length=_MOST_BYTES, description="what is in the file")],
) -> WorkImported:
    """Take the answers of a file that was exported and filled in elsewhere.

    Wrong rows are refused one by one, with their place, and the others are taken. An answer that is
    there already, from whomever, is not taken again. Raises ``NotFound``, and ``InvalidInput`` for
    a file that is no such file.
    """
    with store.read() as tx:
        tables = tx.scoped(caller.tenant_id)
        application = tables.applications.get(application_id)
        own = set(tables.work_items.column("id", application_id=application.id))
        said = standing.of_application(tables, application)
        # An export has the answers that count: who sends one back has not thought of them anew.
        counts = standing.settled(tables, queue.answered_items(tables, application))
    own_words = {item_id: words.get(caller.user_id) for item_id, words in said.items()}

    imported = WorkImported(application_id=application_id, taken=0, same=0, refused=[])
    for found in _read(filename, text):
        if isinstance(found, WorkRefused):
            imported.refused.append(found)
        elif found.item_id not in own:
            message = f"{found.item_id!r} is not an item of this application."
            imported.refused.append(
                _refusal(found.place, "item", message, "Export the items again.")
            )
        elif found.value in {counts.get(found.item_id), own_words.get(found.item_id)}:
            imported.same += 1
        else:
            _give(store, caller, found, imported)
    return imported


def _give(store: Store, caller: Caller, found: _Answered, imported: WorkImported) -> None:
    """Give one answer, and note in ``imported`` what became of it."""
    try:
        done = answers.give(
            store, caller, found.item_id, value=found.value, way="answer", seconds=0.0
        )
    except EasemlError as error:
        imported.refused.append(_refusal(found.place, "answer", error.message, error.remedy))
        return
    imported.taken += 1
    imported.version_id = done.version_id or imported.version_id


def _check_form(form: str) -> None:
    if form not in FORMS:
        remedy = f"Use {' or '.join(FORMS)}."
        raise InvalidInput(f"{form!r} is not a format.", where="format", remedy=remedy)


# Out


def _label_studio(items: Iterable[WorkItem], said: dict[str, str]) -> str:
    """Return Label Studio's JSON: a task an item, whose suggestion is a prediction."""
    tasks = []
    for item in items:
        asked = item.question
        data = {
            "item": item.id,
            "kind": item.kind,
            "row": item.row,
            "column": item.column,
            "question": queue.question_of(item),
            "given": asked.given,
        }
        for name, value in asked.values.items():
            data[f"cell.{name}"] = value
        task: dict[str, Any] = {"data": data, "predictions": [], "annotations": []}
        if asked.options:
            first = asked.options[0]
            prediction = {"result": [_choice(first.value)], "score": first.weight}
            task["predictions"].append(prediction)
        if item.id in said:
            task["annotations"].append({"result": [_choice(said[item.id])]})
        tasks.append(task)
    return json.dumps(tasks, indent=1, ensure_ascii=False)


def _choice(value: str) -> dict[str, Any]:
    return {
        "from_name": _CONTROL,
        "to_name": "row",
        "type": "choices",
        "value": {"choices": [value]},
    }


def _csv(items: Iterable[WorkItem], said: dict[str, str]) -> str:
    """Return a table with a line an item; the column ``answer`` is to be filled in."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for item in items:
        asked = item.question
        suggested = asked.options[0].value if asked.options else ""
        cells = [
            item.id,
            item.kind,
            str(item.row),
            item.column,
            queue.question_of(item),
            asked.given,
            suggested,
            said.get(item.id, ""),
        ]
        writer.writerow(map(_harmless, cells))
    return text.getvalue()


def _harmless(text: str) -> str:
    """Return a text with an apostrophe before what a spreadsheet would run."""
    begins_a_formula = len(text) > 1 and text[0] in "=+-@\t\r"
    if begins_a_formula and not _is_number(text):
        return f"'{text}"
    return text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# In


def _read(filename: str, text: str) -> list[_Answered | WorkRefused]:
    """Return the answers of a file, and what is wrong in it. Raises ``InvalidInput``."""
    if filename.lower().endswith(".json"):
        return _read_label_studio(filename, text)
    if filename.lower().endswith(".csv"):
        return _read_csv(filename, text)
    remedy = "Name it .json (Label Studio) or .csv."
    raise InvalidInput("The ending tells no format.", where=filename, remedy=remedy)


def _read_csv(filename: str, text: str) -> list[_Answered | WorkRefused]:
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")), restval="")
    columns = reader.fieldnames or ()
    for name in ("item", "answer"):
        if name not in columns:
            raise InvalidInput(
                f"There is no column {name!r}.",
                where=filename,
                remedy="Keep the columns item and answer of the export.",
            )
    found: list[_Answered | WorkRefused] = []
    for line in reader:
        place = f"{filename}, line {reader.line_num}"
        item_id = line["item"].strip()
        value = line["answer"].strip()
        if not value:
            continue  # nobody answered it
        if item_id:
            found.append(_Answered(place, item_id, _unguarded(value)))
        else:
            found.append(_refusal(place, "item", "It is empty.", "Keep the id of the export."))
    return found


def _unguarded(value: str) -> str:
    """Return a value without the apostrophe with which an export guards it."""
    if value.startswith("'") and _harmless(value[1:]) == value:
        return value[1:]
    return value


def _read_label_studio(filename: str, text: str) -> list[_Answered | WorkRefused]:
    try:
        tasks = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"It is not JSON: {error}.", where=filename) from error
    if not isinstance(tasks, list):
        remedy = "Export it from Label Studio as JSON: a list of tasks."
        raise InvalidInput("It is not a list of tasks.", where=filename, remedy=remedy)
    found: list[_Answered | WorkRefused] = []
    for number, task in enumerate(tasks, 1):
        found += _of_task(f"{filename}, task {number}", task)
    return found


def _of_task(place: str, task: Any) -> Iterator[_Answered | WorkRefused]:
    """Give the answer of a task, or what is wrong with it; nothing where nobody answered."""
    item_id = _under(task, "data", "item")
    if not isinstance(item_id, str):
        yield _refusal(place, "data.item", "It is missing.", "Keep the data of the export.")
        return
    annotations = task.get("annotations") or task.get("completions") or []
    if not isinstance(annotations, list):
        yield _refusal(place, "annotations", "It is not a list.", "Export it as JSON again.")
        return
    done = [one for one in annotations if isinstance(one, dict) and not one.get("was_cancelled")]
    for last in done[-1:]:
        value = _first_value(last.get("result"))
        if value is None:
            message = "It has no answer that is understood."
            remedy = "Answer with Choices, TextArea or Number."
            yield _refusal(place, "annotations.result", message, remedy)
        else:
            yield _Answered(place, item_id, value)


def _under(found: Any, *keys: str) -> Any:
    """Return what JSON has under these keys, one in the other; None where it is no such object."""
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _first_value(results: Any) -> str | None:
    """Return the first choice, text or number of a result."""
    if not isinstance(results, list):
        return None
    values = (_value_of(_under(result, "value")) for result in results)
    return next((value for value in values if value is not None), None)


def _value_of(said: Any) -> str | None:
    """Return what a control says: its first choice, its text or its number."""
    for key in ("choices", "text", "number"):
        given = _under(said, key)
        first = given[0] if isinstance(given, list) and given else given
        is_answer = isinstance(first, str | int | float) and not isinstance(first, bool)
        if is_answer:
            return str(first)
    return None


def _refusal(place: str, key: str, message: str, remedy: str) -> WorkRefused:
    return WorkRefused(place=place, key=key, message=message, remedy=remedy)
