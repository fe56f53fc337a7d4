"""Uploads, datasets and their versions."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, status

from easeml.api.context import After, Asker, Here, Limit, OnceKey
from easeml.api.streams import BODY, FromUpload, source
from easeml.contract.resources import Dataset, Page, Version
from easeml.service.datasets import datasets

router = APIRouter(tags=["datasets"])
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
    upload: FromUpload = None,
    once: OnceKey = None,
) -> Dataset:
    """Make a dataset of a file (the body, or an upload); its version is ``ingesting`` until a
    worker has read it.
    """
    limit = here.settings.upload_limit
    keep = partial(
        datasets.upload, here.store, asker, name, filename, source(request, upload), once, limit
    )
    return await here.uploads.run(asker.tenant_id, keep)


@router.get("/datasets")
def list_datasets(
    here: Here, asker: Asker, after: After = None, limit: Limit = 50
) -> Page[Dataset]:
    """List the tenant's datasets, oldest first."""
    return datasets.list_page(here.store, asker, after=after, limit=limit)


@router.get("/datasets/{dataset_id}")
def get_dataset(here: Here, asker: Asker, dataset_id: str) -> Dataset:
    """Show a dataset with its newest upload."""
    return datasets.get(here.store, asker, dataset_id)


@router.get("/versions/{version_id}")
def get_version(here: Here, asker: Asker, version_id: str) -> Version:
    """Show a version of a dataset: its state, and the columns once it is ready."""
    return datasets.get_version(here.store, asker, version_id)
