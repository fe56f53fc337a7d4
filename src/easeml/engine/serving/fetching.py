"""What a predictor fetches: all files of a model, whole and verified, or a reason why not."""

import shutil
import tempfile
from pathlib import Path

from easeml.errors import Damaged, NotFound, Unreachable
from easeml.store import Store
from easeml.store.faults import storage_faults
from easeml.store.records import TrainedModel


def fetch(store: Store, model: TrainedModel, folder: Path) -> Path:
    """Copy a model's files, each verified, to a new folder below ``folder``, and return it.

    A copy that was made before is never trusted again. Raises ``Damaged`` for a model that is lost:
    its files are gone or not what they were; ``Unreachable`` where the whole store seems to be
    away, and ``StorageFull``. Leaves nothing then.
    """
    folder.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(dir=folder, prefix=f"{model.id}-"))
    try:
        with storage_faults():
            fetched = store.artefacts.fetch(model.tenant_id, model.served, place / "model")
            _let_all_read(place)
            return fetched
    except NotFound as error:
        shutil.rmtree(place, ignore_errors=True)
        store.artefacts.check_there(model.tenant_id)
        raise Damaged("Its files are gone.", remedy="Restore them from a backup.") from error
    except OSError as error:
        shutil.rmtree(place, ignore_errors=True)
        raise Unreachable(
            f"The files of models cannot be read: {error.strerror}.",
            remedy="The provider has to bring the folder of data and models back.",
        ) from error
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise


def _let_all_read(place: Path) -> None:
    """Let children with a user id of their own read a model; nobody else comes to ``place``."""
    place.chmod(0o755)
    for path in place.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def forget(fetched: Path) -> None:
    """Remove what ``fetch`` returned."""
    shutil.rmtree(fetched.parent, ignore_errors=True)
