"""Redact secrets in displayed text."""

import re

HIDDEN = "***"
# Shorter strings are not secrets, and may occur in any text.
SECRET_MIN = 8
_KEYS = re.compile(r"(?i)\b(bearer\s+)[^\s'\"\\]+|(?<![a-z0-9])()sk-[a-z0-9_-]{8,}")


def redact(address: str) -> str:
    """Redact the secrets of an address: its password, and parameters whose names suggest a secret."""
    user = "://" if "://" in address else "^"
    address = re.sub(rf"({user}[^:/@]*):.*@", r"\1:***@", address)
    return re.sub(r"(?i)([?&;][^=&]*(?:pass|secret|token|key|sig|cred)[^=&]*=)[^&]*", r"\1***", address)


def redact_server_text(text: str, key: str = "") -> str:
    """Redact API keys in a server's message: the key sent to it, and strings that look like a key."""
    return _KEYS.sub(lambda match: (match[1] or "") + HIDDEN, without(text, key))


def without(text: str, secret: str) -> str:
    """Redact a secret, unless it is too short to be one."""
    return text.replace(secret, HIDDEN) if len(secret) >= SECRET_MIN else text
