"""Marks and nonces of a conversation: HMACs of its identity under a secret key.

They are deterministic: the same input yields the same marks, so that a repeated conversation sends identical requests.
Nobody can guess the nonces. The mark of lines is one rare character, a single token: every line of untrusted text gets
it, so that an author who guesses it has only written it twice.
"""

import hmac
from dataclasses import dataclass
from hashlib import sha256

LINE_MARKS = "§¶¤¦¬±¢£¥¿¡÷×«»°"
NONCE_LETTERS = 16


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

    line = LINE_MARKS[int(derive("line", NONCE_LETTERS), 16) % len(LINE_MARKS)]
    return Marks(line, derive("nonce", NONCE_LETTERS), derive("canary", NONCE_LETTERS))
