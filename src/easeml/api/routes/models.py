"""The files of trained models."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from easeml.api.context import Asker, Here
from easeml.api.operations import Operation, add_routes
from easeml.service.views import model_files, signatures

OPERATIONS = (
    Operation("sign_export", "POST", "/models/{model_id}/signatures", signatures.sign_export),
    Operation("signing_key", "GET", "/signing-key", signatures.signing_key),
)

router = APIRouter(tags=["models"])
add_routes(router, OPERATIONS)

_WITH_ROWS = Query(description="With the inputs of the test rows, to compare a translation on.")
_WITH_EVIDENCE = Query(
    description="With its fit on the train rows alone, the validation rows, and the inputs of the "
    "test rows, to choose by how it is made smaller."
)


@router.get("/models/{model_id}/files", response_class=FileResponse)
def download_model(
    here: Here,
    asker: Asker,
    model_id: str,
    test_rows: Annotated[bool, _WITH_ROWS] = False,
    evidence: Annotated[bool, _WITH_EVIDENCE] = False,
) -> FileResponse:
    """Download a trained model: a tar file with its folder and what is known of it."""
    folder = TemporaryDirectory(prefix="easeml-model-")
    try:
        place = Path(folder.name)
        beside = model_files.Beside(test_rows, evidence)
        path = model_files.pack(here.store, asker, model_id, place, beside)
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(path, filename=path.name, background=BackgroundTask(folder.cleanup))
