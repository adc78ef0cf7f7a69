"""Certificate authorities and server certificates for tests of TLS."""

import datetime
import ipaddress
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)
HOST, OTHER_HOST = "127.0.0.1", "192.0.2.1"


class ServerFiles(NamedTuple):
    """The certificate and the private key of a server, in PEM."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority, whose certificate is the file `certificate`."""

    def __init__(self, home: Path, name: str) -> None:
        self._home, self._name, self._key = home, name, ec.generate_private_key(ec.SECP256R1())
        extensions: list[tuple[x509.ExtensionType, bool]] = [
            (x509.BasicConstraints(ca=True, path_length=0), True),
            (x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), False),
            (_key_usage(signs=True), True),
        ]
        self.certificate = home / f"{name}.pem"
        self.certificate.write_bytes(self._sign(name, self._key, extensions))

    def issue(self, address: str) -> ServerFiles:
        """Write a certificate for a server at an IP address."""
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
        basic = x509.BasicConstraints(ca=False, path_length=None)
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        made = [(names, False), (basic, True), (issuer, False), (own, False), (_key_usage(signs=False), True)]
        files = ServerFiles(self._home / f"{self._name}-{address}.pem", self._home / f"{self._name}-{address}.key")
        files.certificate.write_bytes(self._sign(address, key, made))
        encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        files.key.touch(0o600)
        files.key.write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))
        return files

    def _sign(
        self,
        subject: str,
        key: ec.EllipticCurvePrivateKey,
        extensions: list[tuple[x509.ExtensionType, bool]],
    ) -> bytes:
        now = datetime.datetime.now(datetime.UTC)
        builder = (
            x509.CertificateBuilder(_named(self._name), _named(subject), key.public_key(), x509.random_serial_number())
            .not_valid_before(now - DAY)
            .not_valid_after(now + DAY)
        )
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _key_usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )
