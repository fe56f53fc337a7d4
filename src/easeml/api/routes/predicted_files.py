"""Long files that a task predicts."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import APIRouter, Query, Request, status
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from easeml.api.context import Asker, Here, OnceKey
from easeml.api.streams import BODY, FromUpload, source
from easeml.contract.task_views import Task
from easeml.service.models import predicted_files

router = APIRouter(tags=["applications"])


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
    upload: FromUpload = None,
    once: OnceKey = None,
) -> Task:
    """Predict the rows of a file (the body, or an upload) in a task, with what is live now."""
    limit = here.settings.upload_limit
    file = source(request, upload)
    wish = predicted_files.Wish(application_id, filename, fill_absent)
    ask = partial(predicted_files.request, here.store, asker, wish, file, once, limit)
    return await here.uploads.run(asker.tenant_id, ask)


@router.get("/tasks/{task_id}/predictions", response_class=FileResponse)
def download_predictions(here: Here, asker: Asker, task_id: str) -> FileResponse:
    """Download what a task predicted of a file: a Parquet file with its rows."""
    folder = TemporaryDirectory(prefix="easeml-predictions-")
    try:
        path = predicted_files.fetch(here.store, asker, task_id, Path(folder.name))
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(
        path, filename=f"{task_id}.parquet", background=BackgroundTask(folder.cleanup)
    )
