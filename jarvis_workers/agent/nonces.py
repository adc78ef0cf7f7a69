"""Nonces that authors of untrusted text cannot guess: HMACs of the identity of a conversation under a secret key.

They are deterministic: the same input yields the same marks, so that a repeated conversation sends identical requests.
"""

import hmac
from dataclasses import dataclass
from hashlib import sha256

MARK_LETTERS, NONCE_LETTERS = 8, 16


@dataclass(frozen=True)
class Marks:
    """The nonces of a conversation.

    `line` starts every untrusted line, `nonce` is in the tags of a tool call, `canary` must not occur in any answer.
    """

    line: str
    nonce: str
    canary: str


def make_marks(secret: bytes, about: str) -> Marks:
    """Return the marks of a conversation; `about` identifies it, such as the input hash of its job."""

    def derive(purpose: str, letters: int) -> str:
        return hmac.new(secret, f"{purpose}\0{about}".encode("utf-8", "surrogatepass"), sha256).hexdigest()[:letters]

    return Marks(derive("line", MARK_LETTERS), derive("nonce", NONCE_LETTERS), derive("canary", NONCE_LETTERS))
