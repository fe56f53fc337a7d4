"""What was done elsewhere: models that were trained, and trials that a search learns from."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, status

from easeml.api.context import Asker, Here, OnceKey
from easeml.api.streams import BODY, FromUpload, source
from easeml.contract.task_views import Task
from easeml.service.models import importing
from easeml.service.search import histories

router = APIRouter(tags=["models"])


@router.post(
    "/applications/{application_id}/imports",
    status_code=status.HTTP_201_CREATED,
    openapi_extra=BODY,
)
async def import_model(
    request: Request,
    here: Here,
    asker: Asker,
    application_id: str,
    *,
    filename: Annotated[
        str, Query(min_length=1, max_length=1000, description="what the file is called")
    ],
    name: Annotated[
        str, Query(max_length=64, description="of the model; empty: that of the file")
    ] = "",
    upload: FromUpload = None,
    once: OnceKey = None,
) -> Task:
    """Read a file (the body, or an upload) as a model of the application, in a task."""
    file = source(request, upload)
    ask = partial(
        importing.request,
        here.store,
        asker,
        application_id,
        filename,
        name,
        file,
        once,
        here.settings.upload_limit,
    )
    return await here.uploads.run(asker.tenant_id, ask)


@router.post(
    "/applications/{application_id}/histories",
    status_code=status.HTTP_201_CREATED,
    openapi_extra=BODY,
)
async def import_history(
    request: Request,
    here: Here,
    asker: Asker,
    application_id: str,
    *,
    filename: Annotated[
        str, Query(min_length=1, max_length=1000, description="what the file is called")
    ],
    model: Annotated[
        str, Query(max_length=100, description="of all trials, where they do not name theirs")
    ] = "",
    study: Annotated[
        str, Query(max_length=500, description="its name, where a file has several")
    ] = "",
    value: Annotated[
        str, Query(max_length=200, description="the column of a table that trials are judged by")
    ] = "",
    direction: Annotated[
        str,
        Query(pattern="^(maximize|minimize)?$", description="which values of a table are better"),
    ] = "",
    upload: FromUpload = None,
    once: OnceKey = None,
) -> Task:
    """Read a study of Optuna (SQLite or journal) or a table of trials (CSV), in a task; the search
    of the application learns from it.
    """
    file = source(request, upload)
    asked = histories.Asked(model, study, value, direction)
    ask = partial(
        histories.request,
        here.store,
        asker,
        application_id,
        filename,
        asked,
        file,
        once,
        here.settings.upload_limit,
    )
    return await here.uploads.run(asker.tenant_id, ask)
