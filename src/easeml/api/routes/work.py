"""Work of people: the queue of an application, its next item, answers, and doubtful cells."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from easeml.api.context import Asker, Here
from easeml.api.operations import Operation, add_routes
from easeml.service.work import answers, doubts, exchange, queue

_HERE = "/applications/{application_id}/work"
_DOUBTS = "/applications/{application_id}/doubts"

OPERATIONS = (
    Operation("work", "GET", _HERE, queue.show_queue),
    Operation("next_work", "POST", _HERE, queue.take_next),
    Operation("use_answers", "POST", f"{_HERE}/use", answers.use, status=201, repeatable=False),
    Operation("export_work", "GET", f"{_HERE}/export", exchange.export),
    Operation("import_work", "POST", f"{_HERE}/import", exchange.take),
    Operation("answer_work", "POST", "/work/{item_id}/answer", answers.give, repeatable=False),
    Operation("doubts", "GET", _DOUBTS, doubts.show),
    Operation("look_for_doubts", "POST", _DOUBTS, doubts.look),
)

router = APIRouter(tags=["work"])
add_routes(router, OPERATIONS)


@router.get(f"{_DOUBTS}/export", response_class=FileResponse)
def export_doubts(
    here: Here,
    asker: Asker,
    application_id: str,
    form: Annotated[str, Query(alias="format", description="csv, or zip: the relation")] = "csv",
) -> FileResponse:
    """Download the doubtful cells of an application's data, with what they could be."""
    folder = TemporaryDirectory(prefix="easeml-doubts-")
    try:
        path = doubts.export(here.store, asker, application_id, form, Path(folder.name))
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(path, filename=path.name, background=BackgroundTask(folder.cleanup))
