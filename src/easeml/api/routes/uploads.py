"""Uploads in pieces, which survive a lost connection: the tus protocol 1.0
(https://tus.io/protocols/resumable-upload) with its extensions creation, expiration and
termination.

A whole upload becomes a dataset, or rows of an application, by the requests that else carry the
bytes: ``?upload=ID``. What is for an application may be sent below it: then it lies in the
application's tenant, which is another for those with whom the application was shared.
"""

from email.utils import formatdate
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Request, Response, status
from starlette.exceptions import HTTPException

from easeml.api.context import Asker, Here
from easeml.api.streams import binary, chunks
from easeml.contract.datasets import Upload
from easeml.service.storage import uploads
from easeml.store import Upload as Kept

UPLOADS_PATH = "/api/v1/uploads"
TUS = "1.0.0"
PIECE_TYPE = "application/offset+octet-stream"


async def _tus(
    response: Response,
    version: Annotated[str, Header(alias="Tus-Resumable", description=f"always `{TUS}`")] = "",
) -> None:
    if version != TUS:
        text = f"Send the header Tus-Resumable: {TUS}."
        raise HTTPException(status.HTTP_412_PRECONDITION_FAILED, text, {"Tus-Version": TUS})
    response.headers["Tus-Resumable"] = TUS


pieces = APIRouter(prefix="/uploads", tags=["uploads"], dependencies=[Depends(_tus)])


@pieces.post("", status_code=status.HTTP_201_CREATED)
def begin_upload(
    request: Request,
    here: Here,
    asker: Asker,
    response: Response,
    length: Annotated[int, Header(alias="Upload-Length", ge=0, description="bytes of the file")],
) -> Upload:
    """Announce an upload; its bytes follow in pieces, to the address in `Location`."""
    kept = uploads.begin(here.store, asker, length, here.settings.upload_limit)
    response.headers["Location"] = f"{request.url.path}/{kept.id}"
    _tell(response, kept)
    return Upload(id=kept.id, length=kept.length, offset=kept.offset, expires=kept.expires)


@pieces.head("/{upload_id}", response_class=Response)
def get_upload(here: Here, asker: Asker, upload_id: str) -> Response:
    """Tell in `Upload-Offset` how many bytes are here."""
    return _told(status.HTTP_200_OK, uploads.get(here.store, asker, upload_id))


@pieces.patch(
    "/{upload_id}", status_code=status.HTTP_204_NO_CONTENT, openapi_extra=binary(PIECE_TYPE)
)
async def append_upload(
    request: Request,
    here: Here,
    asker: Asker,
    upload_id: str,
    offset: Annotated[
        int, Header(alias="Upload-Offset", ge=0, description="where the piece begins")
    ],
) -> Response:
    """Send the next piece (the raw body); 409 if the upload is elsewhere, which HEAD tells."""
    if request.headers.get("content-type", "") != PIECE_TYPE:
        raise HTTPException(
            status.HTTP_415_UNSUPPORTED_MEDIA_TYPE, f"A piece has the content type {PIECE_TYPE}."
        )
    append = partial(uploads.append, here.store, asker, upload_id, offset, chunks(request))
    return _told(status.HTTP_204_NO_CONTENT, await here.uploads.run(asker.tenant_id, append))


@pieces.delete("/{upload_id}", status_code=status.HTTP_204_NO_CONTENT)
def cancel_upload(here: Here, asker: Asker, upload_id: str) -> Response:
    """Call an upload off; its bytes are forgotten."""
    uploads.cancel(here.store, asker, upload_id)
    return Response(status_code=status.HTTP_204_NO_CONTENT, headers={"Tus-Resumable": TUS})


def _known(here: Here, asker: Asker, application_id: str) -> None:
    """Raise ``NotFound`` for an application that the asker does not have."""
    with here.store.read() as tx:
        tx.scoped(asker.tenant_id).applications.get(application_id)


router = APIRouter()
router.include_router(pieces)
router.include_router(
    pieces, prefix="/applications/{application_id}", dependencies=[Depends(_known)]
)


def _told(code: int, kept: Kept) -> Response:
    answer = Response(status_code=code, headers={"Tus-Resumable": TUS})
    _tell(answer, kept)
    return answer


def _tell(answer: Response, kept: Kept) -> None:
    answer.headers["Upload-Offset"] = str(kept.offset)
    answer.headers["Upload-Length"] = str(kept.length)
    answer.headers["Upload-Expires"] = formatdate(kept.expires, usegmt=True)
