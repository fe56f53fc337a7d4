"""Signatures of folders, as the OpenSSF's Model Signing has them: whoever has the public key can tell
that the files of a folder are those that were signed.

A signature is a bundle of sigstore, with a statement of in-toto that names the digest of each file
(https://github.com/sigstore/model-transparency, predicate v1.0). ``model_signing verify key`` reads
it as well.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from easeml.errors import Damaged

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

SIGNATURE = "model.sig"
"""The file of a folder that holds its signature, and is not signed itself."""

_BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
_STATEMENT = "https://in-toto.io/Statement/v1"
_PREDICATE = "https://model_signing/signature/v1.0"
_PAYLOAD = "application/vnd.in-toto+json"


def digest_of(content: bytes) -> str:
    """Return the digest by which a file is signed: SHA-256, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def new_key() -> str:
    """Return a fresh private key (P-256), as PEM."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    made = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return made.decode()


def public_key(private_key: str) -> str:
    """Return the public key of a private one, both as PEM."""
    from cryptography.hazmat.primitives import serialization

    public = _private(private_key).public_key()
    kind = serialization.PublicFormat.SubjectPublicKeyInfo
    return public.public_bytes(serialization.Encoding.PEM, kind).decode()


def sign(private_key: str, name: str, digests: Mapping[str, str]) -> dict[str, Any]:
    """Return the signature of a folder, a JSON object.

    ``digests``: the SHA-256 of each file, in hexadecimal, by its path within the folder.
    """
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    payload = json.dumps(_statement(name, digests)).encode()
    signature = _private(private_key).sign(_authenticated(payload), ec.ECDSA(hashes.SHA256()))
    return {
        "mediaType": _BUNDLE,
        "verificationMaterial": {
            "publicKey": {"hint": digest_of(public_key(private_key).encode())}
        },
        "dsseEnvelope": {
            "payload": base64.b64encode(payload).decode(),
            "payloadType": _PAYLOAD,
            "signatures": [{"sig": base64.b64encode(signature).decode()}],
        },
    }


def signed_digests(signature: bytes, key: str) -> dict[str, str]:
    """Return the digests that were signed with the private key of ``key`` (PEM), by path.

    ``signature``: the content of the file ``SIGNATURE``. Raises ``Damaged`` where it is none, or
    one of another key.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        envelope = json.loads(signature)["dsseEnvelope"]
        payload = base64.b64decode(envelope["payload"])
        found = base64.b64decode(envelope["signatures"][0]["sig"])
        public = load_pem_public_key(key.encode())
        assert isinstance(public, ec.EllipticCurvePublicKey)
        public.verify(found, _authenticated(payload), ec.ECDSA(hashes.SHA256()))
        resources = json.loads(payload)["predicate"]["resources"]
        return {one["name"]: one["digest"] for one in resources}
    except InvalidSignature as error:
        remedy = "Ask who gave you the folder where its service is, and for the key of that."
        raise Damaged("Another key has signed it, or it was changed.", remedy=remedy) from error
    except (ValueError, KeyError, IndexError, TypeError, AssertionError) as error:
        raise Damaged("The signature or the key cannot be read.") from error


def _statement(name: str, digests: Mapping[str, str]) -> dict[str, Any]:
    resources = []
    together = hashlib.sha256()
    for path, digest in sorted(digests.items()):
        together.update(bytes.fromhex(digest))
        resources.append({"name": path, "algorithm": "sha256", "digest": digest})
    how = {
        "method": "files",
        "hash_type": "sha256",
        "allow_symlinks": False,
        "ignore_paths": [SIGNATURE],
    }
    return {
        "_type": _STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": together.hexdigest()}}],
        "predicateType": _PREDICATE,
        "predicate": {"serialization": how, "resources": resources},
    }


def _authenticated(payload: bytes) -> bytes:
    """Return what is signed: https://github.com/secure-systems-lab/dsse/blob/master/protocol.md."""
    return b"DSSEv1 %d %s %d %s" % (len(_PAYLOAD), _PAYLOAD.encode(), len(payload), payload)


def _private(key: str) -> "EllipticCurvePrivateKey":
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    found = load_pem_private_key(key.encode(), password=None)
    assert isinstance(found, EllipticCurvePrivateKey)
    return found
