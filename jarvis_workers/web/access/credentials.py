"""The files of users and API tokens, which contain only hashes.

A line is NAME:ROLE:HASH.  Passwords are hashed with scrypt; tokens have 256 random bits, so SHA-256 is sufficient.  A
changed file takes effect at the next request.
"""

import hmac
import math
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from werkzeug.exceptions import TooManyRequests
from werkzeug.security import check_password_hash, generate_password_hash

from jarvis_workers.errors import SettingsError
from jarvis_workers.paths import read_regular
from jarvis_workers.web.access.guess_limits import Address, GuessLimits
from jarvis_workers.web.access.identity import Role, read_role

NAME = re.compile(r"[A-Za-z0-9._@+-]{1,64}")
LINES_MAX = 10_000
FILE_BYTES = 4_000_000
PASSWORD_MAX = 200
VERIFIED_MAX = 256
# Requests whose password is being hashed or waits for it; fewer than the threads of the server.
HASHING_MAX = 4
SCRYPT = "scrypt:16384:8:1"


class Credential(NamedTuple):
    """A line of a file: a name, its role, and the hash of the password or token."""

    name: str
    role: Role
    hash: str


class CredentialFile:
    """The credentials in a file, by name; the file is read again when it has changed. Raises SettingsError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._credentials: Mapping[str, Credential] = {}
        self.read()

    def read(self) -> Mapping[str, Credential]:
        """Return the credentials by name."""
        try:
            state = self._path.stat()
            stamp = state.st_mtime_ns, state.st_size, state.st_ino
            if stamp != self._stamp:
                self._credentials = dict(self._line(line) for line in self._lines())
                self._stamp = stamp
        except OSError as error:
            raise SettingsError(f"{self._path}: cannot be read: {error.strerror}") from error
        return self._credentials

    def _lines(self) -> list[tuple[int, str]]:
        content = read_regular(self._path, FILE_BYTES)
        if len(content) > FILE_BYTES:
            raise SettingsError(f"{self._path} is larger than {FILE_BYTES:,} bytes")
        text = content.decode("utf-8", "replace")
        lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
        result = [(number, line) for number, line in lines if line and not line.startswith("#")]
        if len(result) > LINES_MAX:
            raise SettingsError(f"{self._path} has more than {LINES_MAX:,} lines")
        return result

    def _line(self, numbered: tuple[int, str]) -> tuple[str, Credential]:
        number, line = numbered
        name, _, rest = line.partition(":")
        role, _, digest = rest.partition(":")
        try:
            if not NAME.fullmatch(name) or not digest:
                raise ValueError("should be NAME:ROLE:HASH; create a line with: jarvis web user, or jarvis web token")
            return name, Credential(name, read_role(role), digest)
        except ValueError as error:
            raise SettingsError(f"{self._path}:{number}: {error}") from error


class Passwords:
    """Verifies passwords, and caches a keyed hash of each verified one, since scrypt is too slow for every request.

    One password is hashed at a time, so that guessing takes at most one processor, and few requests wait for it, so
    that most threads serve users who have signed in.
    """

    def __init__(
        self,
        file: CredentialFile,
        *,
        check: Callable[[str, str], bool] = check_password_hash,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._file = file
        self._check = check
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._hashing = threading.Lock()
        self._admitted = threading.BoundedSemaphore(HASHING_MAX)
        self._verified: OrderedDict[tuple[str, str, bytes], None] = OrderedDict()
        self._limits = GuessLimits(monotonic)
        self._nobody = generate_password_hash(secrets.token_hex(16), SCRYPT)

    def verify(self, name: str, password: str, address: Address) -> Credential | None:
        """Return the credential of a user with this password, or None.

        Raises TooManyRequests if the address has sent too many wrong passwords, or too many are being checked.
        """
        entry = self._file.read().get(name)
        if len(password) > PASSWORD_MAX:
            return None
        stored = entry.hash if entry else self._nobody
        cache_key = name, stored, hmac.digest(self._key, password.encode("utf-8", "replace"), "sha256")
        if entry and self._is_verified(cache_key):
            return entry
        if not self._is_right(stored, password, address) or entry is None:
            return None
        with self._lock:
            self._verified[cache_key] = None
            while len(self._verified) > VERIFIED_MAX:
                self._verified.popitem(last=False)
        return entry

    def _is_verified(self, cache_key: tuple[str, str, bytes]) -> bool:
        with self._lock:
            if cache_key not in self._verified:
                return False
            self._verified.move_to_end(cache_key)
            return True

    def _is_right(self, stored: str, password: str, address: Address) -> bool:
        self._refuse_delayed(address)
        if not self._admitted.acquire(blocking=False):
            raise TooManyRequests("Too many passwords are being checked; try again in a moment.", retry_after=1)
        try:
            with self._hashing:
                self._refuse_delayed(address)  # those that waited together with this one may have been wrong
                is_right = self._check(stored, password)
                if not is_right:
                    self._limits.add_failure(address)
                return is_right
        finally:
            self._admitted.release()

    def _refuse_delayed(self, address: Address) -> None:
        if seconds := math.ceil(self._limits.seconds_left(address)):
            raise TooManyRequests(f"Too many wrong passwords; try again in {seconds} s.", retry_after=seconds)


class Tokens:
    """Verifies API tokens."""

    def __init__(self, file: CredentialFile) -> None:
        self._file = file

    def verify(self, token: str) -> Credential | None:
        """Return the credential with this token, or None."""
        digest = _digest(token)
        result = [one for one in self._file.read().values() if hmac.compare_digest(one.hash.encode(), digest)]
        return result[0] if result else None


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(32)


def token_line(name: str, role: str, token: str) -> str:
    """Return the line of a token for the file of tokens. Raises ValueError."""
    return _line(name, role, _digest(token).decode())


def password_line(name: str, role: str, password: str) -> str:
    """Return the line of a user for the file of users. Raises ValueError."""
    if not 8 <= len(password) <= PASSWORD_MAX:
        raise ValueError(f"a password should have 8 to {PASSWORD_MAX} characters")
    return _line(name, role, generate_password_hash(password, SCRYPT))


def _line(name: str, role: str, digest: str) -> str:
    if not NAME.fullmatch(name):
        raise ValueError("a name should have 1 to 64 letters, digits or . _ @ + -")
    return f"{name}:{read_role(role).name.lower()}:{digest}"


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "replace")).hexdigest().encode()
