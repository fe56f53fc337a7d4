"""Exported models are signed: this easeml vouches for what their manifests say of them."""

import json
import re
from typing import Annotated, Any

from pydantic import Field

from easeml import signing
from easeml.contract.models import Signature, SigningKey
from easeml.errors import Conflict, InvalidInput
from easeml.service.access.caller import Caller
from easeml.service.views import model_files
from easeml.store import Store
from easeml.store.records import KeptSetting

_KEY = "signing-key"
_LARGEST = 1 << 22  # characters of a manifest
_DIGEST = re.compile("[0-9a-f]{64}")

Manifest = Annotated[
    str, Field(max_length=_LARGEST, description="the text of the file `export.json`")
]
FileName = Annotated[str, Field(max_length=100, description="what that file is called")]


def sign_export(
    store: Store,
    caller: Caller,
    model_id: str,
    *,
    manifest: Manifest,
    filename: FileName = "export.json",
) -> Signature:
    """Sign an exported model: its manifest, and the files whose digests that names.

    Raises ``NotFound``, ``InvalidInput`` for what is no manifest, and ``Conflict`` where it tells of
    the model what is not known of it here.
    """
    with store.read() as tx:
        facts = model_files.facts_of(tx, caller, model_id)
    told = _read(manifest)
    if told["facts"] != facts:
        raise Conflict(
            "The manifest tells otherwise of this model than this easeml does.",
            where="facts",
            remedy="Export it again: what is known of it may have changed meanwhile.",
        )
    digests = told["sha256"] | {filename: signing.digest_of(manifest.encode())}
    return Signature(bundle=signing.sign(_private_key(store), model_id, digests))


def signing_key(store: Store, caller: Caller) -> SigningKey:
    """Return the public key by which exports of this easeml are signed."""
    return SigningKey(pem=signing.public_key(_private_key(store)))


def _read(manifest: str) -> dict[str, Any]:
    """Return a manifest with its facts and digests. Raises ``InvalidInput``."""
    try:
        told = json.loads(manifest)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"The manifest is not JSON: {error}", where="manifest") from error
    match told:
        case {"facts": dict(), "sha256": dict(digests)} if all(map(_is_digest, digests.values())):
            return told
    raise InvalidInput("The manifest has no facts, or no digests.", where="manifest")


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def _private_key(store: Store) -> str:
    """Return the key of this easeml, which is made when it is first asked for."""
    with store.read() as tx:
        found = tx.kept_settings.find(id=_KEY)
    if found is not None:
        return found.value
    with store.write() as tx:
        tx.kept_settings.ensure(KeptSetting(_KEY, signing.new_key()))
        return tx.kept_settings.get(_KEY).value
