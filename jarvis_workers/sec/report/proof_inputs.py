"""Files of a proof for people: bytes that are mostly text as such, with escapes; others in base64."""

from base64 import b64decode

from jarvis_workers.sec.proof.proof import ProofSource

PRINTED = range(0x20, 0x7F)
# Of the bytes, those that are printed or end a line.
SHARE = 0.75


def input_text(source: ProofSource, most: int | None = None) -> str:
    r"""Return the text of a file, such as `PORT 1,1\r\n` for bytes, cut behind so many characters."""
    if source.text is not None or source.base64 is None:
        return (source.text or "")[:most]
    content = b64decode(source.base64)
    printed = sum(byte in PRINTED or byte in b"\r\n\t" for byte in content)
    if printed < SHARE * len(content):
        return f"base64: {source.base64}"[:most]
    return content.decode("latin-1").encode("unicode_escape").decode()[:most]
