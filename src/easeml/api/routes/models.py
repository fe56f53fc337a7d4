"""The files of trained models."""

from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import APIRouter
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from easeml.api.context import Asker, Here
from easeml.service.views import model_files

router = APIRouter(tags=["models"])


@router.get("/models/{model_id}/files", response_class=FileResponse)
def download_model(here: Here, asker: Asker, model_id: str) -> FileResponse:
    """Download a trained model: a tar file with its folder and what is known of it."""
    folder = TemporaryDirectory(prefix="easeml-model-")
    try:
        path = model_files.pack(here.store, asker, model_id, Path(folder.name))
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(path, filename=path.name, background=BackgroundTask(folder.cleanup))
