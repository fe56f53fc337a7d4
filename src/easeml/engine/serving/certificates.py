"""Certificates by which a predictor is known to the controllers of other machines.

A predictor makes its own when it starts, and tells it in its row of the database. Controllers trust
this one certificate and no authority, so that nobody has to set one up.
"""

import ssl
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

# It lasts as long as its process. By the dates it is always valid: clocks may be wrong.
_FROM = datetime(2000, 1, 1, tzinfo=UTC)
_UNTIL = datetime(9999, 12, 31, tzinfo=UTC)


def make_certificate(name: str) -> tuple[str, ssl.SSLContext]:
    """Return a new certificate (PEM), and what a server needs to be known by it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_FROM)
        .not_valid_after(_UNTIL)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    with tempfile.TemporaryDirectory() as folder:  # the library reads files only
        chain = Path(folder) / "chain.pem"
        chain.touch(mode=0o600)
        chain.write_bytes(private + pem)
        context.load_cert_chain(chain)
    return pem.decode(), context


def trusting(certificate: str) -> ssl.SSLContext:
    """Return what a client needs to speak to the server with this certificate, and to no other."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # the certificate is the server's alone, wherever it is
    context.load_verify_locations(cadata=certificate)
    return context
