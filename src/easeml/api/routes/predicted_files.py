"""Long files that a task predicts."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response, status
from fastapi.responses import FileResponse, StreamingResponse
from starlette.background import BackgroundTask

from easeml.api.context import Asker, Here, OnceKey
from easeml.api.streams import BODY, FromUpload, source
from easeml.contract.task_views import Task
from easeml.data import TableFormat, as_stream
from easeml.service.models import predicted_files

router = APIRouter(tags=["applications"])

_MEDIA_TYPES = {
    TableFormat.PARQUET: "application/vnd.apache.parquet",
    TableFormat.CSV: "text/csv; charset=utf-8",
    TableFormat.JSON_LINES: "application/jsonl",
}
_FORMAT = Query(alias="format", description="parquet, csv, or jsonl (an object a line)")
_AS_THEY_ARE = Query(
    description="In CSV, texts that a spreadsheet would run as a formula stay as they are."
)


@router.post(
    "/applications/{application_id}/predictions",
    status_code=status.HTTP_201_CREATED,
    openapi_extra=BODY,
)
async def predict_file(
    request: Request,
    here: Here,
    asker: Asker,
    application_id: str,
    *,
    filename: Annotated[
        str, Query(min_length=1, max_length=1000, description="its ending tells the format")
    ],
    fill_absent: Annotated[
        bool, Query(description="columns that may be empty may be absent as well")
    ] = False,
    fill_empty: Annotated[
        bool,
        Query(description="cells may be empty in columns that had no empty one in training"),
    ] = False,
    upload: FromUpload = None,
    once: OnceKey = None,
) -> Task:
    """Predict the rows of a file (the body, or an upload) in a task, with what is live now."""
    limit = here.settings.upload_limit
    file = source(request, upload)
    wish = predicted_files.Wish(application_id, filename, fill_absent, fill_empty)
    ask = partial(predicted_files.request, here.store, asker, wish, file, once, limit)
    return await here.uploads.run(asker.tenant_id, ask)


@router.get("/tasks/{task_id}/predictions", response_class=FileResponse)
def download_predictions(
    here: Here,
    asker: Asker,
    task_id: str,
    form: Annotated[TableFormat, _FORMAT] = TableFormat.PARQUET,
    keep_formulas: Annotated[bool, _AS_THEY_ARE] = False,
) -> Response:
    """Download what a task predicted of a file, with its rows, in the format that is asked for."""
    folder = TemporaryDirectory(prefix="easeml-predictions-")
    try:
        path = predicted_files.fetch(here.store, asker, task_id, Path(folder.name))
    except BaseException:
        folder.cleanup()
        raise
    name, clean = f"{task_id}.{form}", BackgroundTask(folder.cleanup)
    if form == TableFormat.PARQUET:
        return FileResponse(path, media_type=_MEDIA_TYPES[form], filename=name, background=clean)
    return StreamingResponse(
        as_stream(path, form, keep_formulas=keep_formulas),
        media_type=_MEDIA_TYPES[form],
        headers={"content-disposition": f'attachment; filename="{name}"'},
        background=clean,
    )
