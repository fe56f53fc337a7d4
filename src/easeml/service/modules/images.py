"""Images of modules: artefacts of the tenants that added them, loaded where they are needed."""

from dataclasses import dataclass
from pathlib import Path

from easeml.contract.knowledge import NewModule
from easeml.errors import Conflict, InvalidInput, NotAllowed, NotFound, NotReady
from easeml.modules import Module, packed
from easeml.modules.containers import images
from easeml.service.access.caller import Caller
from easeml.service.modules import surroundings
from easeml.service.storage import artefact_references, uploads
from easeml.store import Store, Transaction

_WHERE = "module.toml: runtime.image"


def whole_text(store: Store, caller: Caller, wish: NewModule, limit: int) -> str:
    """Return the text of a module that is to be added, with its files and its image.

    Raises as ``uploads.keep``, and ``TooLarge`` for a folder that is.
    """
    if wish.files is None:
        return wish.toml
    image = packed.reference(wish.toml)
    if wish.image_upload:
        digest, _ = uploads.keep(store, caller, wish.image_upload, limit)
        image = f"{images.BY_DIGEST}{digest}"
    return packed.pack_texts(wish.toml, wish.files, image)


def keep(store: Store, caller: Caller, module: Module, upload: str, limit: int) -> int:
    """Store the image that was uploaded for a module; return its size, 0 where it has none.

    ``upload``: the id of the upload; nothing where the tenant has stored the image before. Raises
    ``InvalidInput`` for another file than the module names, ``NotAllowed`` where somebody who is no
    provider names an image of the machine, and as ``uploads.keep``.
    """
    if not module.image:
        return 0
    digest = images.digest_of(module.image)
    if not digest:
        _check_name(caller, module.image)
        return 0
    if not upload:
        return _stored(store, caller, digest)
    found, size = uploads.keep(store, caller, upload, limit)
    if found != digest:
        raise InvalidInput(
            "The file that was sent is not the image that the module names.",
            where=_WHERE,
            remedy="Add the folder again; the file changed meanwhile.",
        )
    return size


def refer(tx: Transaction, caller: Caller, module: Module, size: int) -> None:
    """Keep the stored image of a module alive. ``size``: as ``keep`` returned it."""
    if size:
        digest = images.digest_of(module.image)
        artefact_references.keep(tx, caller.tenant_id, digest, size)


def _stored(store: Store, caller: Caller, digest: str) -> int:
    """Return the size of an image that the tenant has stored before."""
    with store.read() as tx:
        found = tx.scoped(caller.tenant_id).artefacts.find(digest=digest)
    if found is None:
        raise InvalidInput(
            "The image of the module is not here.",
            where=_WHERE,
            remedy="Add the folder with `easeml module add PATH`, which sends it.",
        )
    return found.size


def _check_name(caller: Caller, image: str) -> None:
    """Raise unless a provider names an image that is not one of easeml's own."""
    name = image.removeprefix(images.BY_NAME)
    if not caller.is_provider:
        raise NotAllowed(
            "Only a provider names an image that the machine holds.",
            where=_WHERE,
            remedy="Put the image's tar file into the folder: image = 'FILE.tar'.",
        )
    if "easeml-" in name:
        raise InvalidInput("This is an image of a module that was added.", where=_WHERE)


@dataclass(frozen=True, slots=True)
class MachineImages:
    """The images that the engine of this machine holds for a home."""

    store: Store
    home: Path

    def provide(self, tenant_id: str, texts: bytes) -> dict[str, str]:
        """Have the engine hold the images that ``texts`` name and a tenant may use.

        Returns what the engine calls each of them. Raises ``Conflict`` where no engine works,
        ``InvalidInput`` for a stored file that is no image, ``NotFound`` for one that is not stored
        or not on this machine.
        """
        own = images.repository(self.home)
        with self.store.read() as tx:
            usable = surroundings.usable(tx, tenant_id, texts)
        found = {}
        for image in sorted(usable & images.named_in(texts)):
            found[image] = images.provide(
                image, own, lambda path, one=image: self._fetch(one, path)
            )
        return found

    def of_model(self, tenant_id: str, folder: Path, objective_source: str = "") -> dict[str, str]:
        """Have the engine hold what a tenant's trained model runs in; see ``provide``.

        ``folder``: its files; ``objective_source``: the text of an objective that is not installed.
        Raises ``NotReady`` where no engine works.
        """
        try:
            return self.provide(tenant_id, texts_of_model(folder, objective_source))
        except Conflict as error:  # it is the machine that lacks something, not the model
            raise NotReady(error.message, where=error.where, remedy=error.remedy) from error

    def _fetch(self, image: str, path: Path) -> None:
        digest = images.digest_of(image)
        with self.store.read() as tx:
            kept = tx.unscoped().artefacts.find(digest=digest)
        if kept is None:
            raise NotFound("The image of this module is no longer stored.", where=digest)
        self.store.artefacts.fetch(kept.tenant_id, digest, path)

    def remove_unneeded(self) -> list[str]:
        """Have the engine forget images that no module needs, and return their digests.

        A module needs its image until it failed its checks, or was archived and has trained
        nothing. Whoever restores it has it loaded again.
        """
        own = images.repository(self.home)
        held = images.held(own)
        if not held:
            return []
        with self.store.read() as tx:
            needed = surroundings.in_use(tx)
        unneeded = [digest for digest in held if f"{images.BY_DIGEST}{digest}" not in needed]
        images.remove(unneeded, own)
        return unneeded


def texts_of_model(folder: Path, objective_source: str) -> bytes:
    """Return what names what the programs of a trained model, and its objective, run in."""
    texts = [path.read_bytes() for path in folder.rglob("manifest.json")]
    return b"\n".join([*texts, objective_source.encode()])
