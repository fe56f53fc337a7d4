"""The data of an application: fed, refined, looked at, compared and exported."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, status
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from easeml.api.context import Asker, Here, OnceKey
from easeml.api.operations import Operation, add_routes
from easeml.api.streams import BODY, FromUpload, WhichTable, source
from easeml.contract.datasets import Version
from easeml.service.versions import changes, version_views

OPERATIONS = (
    Operation(
        "versions",
        "GET",
        "/applications/{application_id}/versions",
        version_views.of_application,
    ),
    Operation(
        "use_version",
        "POST",
        "/applications/{application_id}/versions/{version_id}/use",
        changes.use_version,
    ),
    Operation(
        "refine",
        "POST",
        "/applications/{application_id}/refine",
        changes.refine,
        status=201,
    ),
    Operation(
        "train_rows_page",
        "GET",
        "/applications/{application_id}/rows",
        version_views.train_rows_page,
    ),
    Operation("compare", "GET", "/versions/{version_id}/comparison", version_views.comparison),
    Operation(
        "push_flow",
        "POST",
        "/applications/{application_id}/flow",
        changes.push_flow,
        status=201,
        whole=True,
    ),
)

router = APIRouter(tags=["versions"])
add_routes(router, OPERATIONS)
Role = Literal["train", "validation", "test", "pool", "production"]


@router.post(
    "/applications/{application_id}/feed", status_code=status.HTTP_201_CREATED, openapi_extra=BODY
)
async def feed(
    request: Request,
    here: Here,
    asker: Asker,
    application_id: str,
    *,
    filename: Annotated[
        str, Query(min_length=1, max_length=1000, description="its ending tells the format")
    ],
    role: Annotated[
        Role | None, Query(description="of all new rows; as the rows before by default")
    ] = None,
    anyway: Annotated[bool, Query(description="rows that look broken join, too")] = False,
    table: WhichTable = None,
    upload: FromUpload = None,
    once: OnceKey = None,
) -> Version:
    """Add the rows of a file (the body, or an upload); if they do not fit, or a column of them is
    plainly broken, the version fails, and nothing changes.
    """
    limit = here.settings.upload_limit
    file = source(request, upload)
    given = (application_id, filename, file, role, once, limit, table)
    keep = partial(changes.feed, here.store, asker, *given, anyway=anyway)
    return await here.uploads.run(asker.tenant_id, keep)


@router.post(
    "/applications/{application_id}/replace",
    status_code=status.HTTP_201_CREATED,
    openapi_extra=BODY,
)
async def replace(
    request: Request,
    here: Here,
    asker: Asker,
    application_id: str,
    *,
    filename: Annotated[
        str, Query(min_length=1, max_length=1000, description="its ending tells the format")
    ],
    table: WhichTable = None,
    upload: FromUpload = None,
    once: OnceKey = None,
) -> Version:
    """Let the rows of a file (the body, or an upload) take the place of all rows; if the table is
    not the same one, the version fails, and nothing changes.
    """
    limit = here.settings.upload_limit
    file = source(request, upload)
    given = (application_id, filename, file, once, limit, table)
    keep = partial(changes.replace_rows, here.store, asker, *given)
    return await here.uploads.run(asker.tenant_id, keep)


@router.get("/versions/{version_id}/export", response_class=FileResponse)
def export_version(
    here: Here,
    asker: Asker,
    version_id: str,
    form: Annotated[
        str, Query(alias="format", description="csv, tsv, parquet, arrow, jsonl, arff, zip ...")
    ] = "csv",
    since: Annotated[
        str | None,
        Query(description="another version: only what differs from it; gone rows have role off"),
    ] = None,
    cells: Annotated[
        bool,
        Query(
            description="with since: rows that were there bring only columns in which one differs,"
            " named in easeml.cells"
        ),
    ] = False,
) -> FileResponse:
    """Download the rows of a version that are on, with their ids and roles."""
    folder = TemporaryDirectory(prefix="easeml-export-")
    try:
        place = Path(folder.name)
        path = version_views.export(here.store, asker, version_id, form, place, since, cells=cells)
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(path, filename=path.name, background=BackgroundTask(folder.cleanup))
