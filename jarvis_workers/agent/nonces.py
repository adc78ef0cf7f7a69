"""What foreign text cannot guess: HMACs of a secret and of what the conversation is about.

The same input has the same marks, so that the same conversation asks the same questions again.
"""

import hmac
from dataclasses import dataclass
from hashlib import sha256

MARK_LETTERS, NONCE_LETTERS = 8, 16


@dataclass(frozen=True)
class Marks:
    """`line` begins every line from outside, `nonce` stands in the tags of a call, `canary` is never repeated."""

    line: str
    nonce: str
    canary: str


def make_marks(secret: bytes, about: str) -> Marks:
    """Return the marks of a conversation about something, such as a job's input hash."""

    def derive(purpose: str, letters: int) -> str:
        return hmac.new(secret, f"{purpose}\0{about}".encode("utf-8", "surrogatepass"), sha256).hexdigest()[:letters]

    return Marks(derive("line", MARK_LETTERS), derive("nonce", NONCE_LETTERS), derive("canary", NONCE_LETTERS))
