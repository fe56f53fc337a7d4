"""Uploads, datasets and their versions."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, status

from easeml.api.context import Asker, Here, OnceKey
from easeml.api.operations import Operation, add_routes
from easeml.api.streams import BODY, FromUpload, WhichTable, source
from easeml.contract.datasets import Dataset
from easeml.service.datasets import datasets
from easeml.service.sources import adding

OPERATIONS = (
    Operation("datasets", "GET", "/datasets", datasets.list_page),
    Operation("unused_datasets", "GET", "/datasets/unused", datasets.unused),
    Operation("dataset", "GET", "/datasets/{dataset_id}", datasets.get),
    Operation("version", "GET", "/versions/{version_id}", datasets.get_version),
    Operation(
        "read_table", "POST", "/datasets/{dataset_id}/table", datasets.read_table, status=201
    ),
    Operation("add_origin", "POST", "/datasets/origins", adding.add_origin, status=201, whole=True),
)

router = APIRouter(tags=["datasets"])
add_routes(router, OPERATIONS)
UPLOAD_PATH = "/api/v1/datasets"


@router.post("/datasets", status_code=status.HTTP_201_CREATED, openapi_extra=BODY)
async def create_dataset(
    request: Request,
    here: Here,
    asker: Asker,
    *,
    filename: Annotated[
        str, Query(min_length=1, max_length=1000, description="its ending tells the format")
    ],
    name: Annotated[
        str | None, Query(description="the file's name without its ending by default")
    ] = None,
    header: Annotated[
        bool | None,
        Query(description="whether the first row of a text table holds the names; found out else"),
    ] = None,
    table: WhichTable = None,
    upload: FromUpload = None,
    once: OnceKey = None,
) -> Dataset:
    """Make a dataset of a file (the body, or an upload); its version is ``ingesting`` until a
    worker has read it.
    """
    limit = here.settings.upload_limit
    body = source(request, upload)
    reading = {"header": header, "table": table}
    keep = partial(datasets.upload, here.store, asker, name, filename, body, once, limit, **reading)
    return await here.uploads.run(asker.tenant_id, keep)
