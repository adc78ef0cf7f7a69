"""C names as Rust identifiers."""

import re

# https://doc.rust-lang.org/reference/keywords.html: strict, reserved, and those of later editions.
KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen "
        "if impl in let loop macro match mod move mut override priv pub ref return self static struct super trait true "
        "try type typeof unsafe unsized use virtual where while yield Self",
    )
)
# These four cannot be raw identifiers.
NEVER_RAW = frozenset(("crate", "self", "super", "Self"))
NOT_ASCII = re.compile(r"[^A-Za-z0-9_]")


def identifier(name: str) -> str:
    """Return a name as an identifier: `r#type` for a keyword, hexadecimal codes for characters that Rust may reject."""
    plain = NOT_ASCII.sub(lambda match: f"_u{ord(match[0]):x}_", name)
    if plain in NEVER_RAW or plain == "_":
        return f"{plain}_"
    return f"r#{plain}" if plain in KEYWORDS else plain
