"""Hide secrets in what is shown."""

import re

HIDDEN = "***"
# What is shorter is no secret, and may stand in any text.
SECRET_MIN = 8
_KEYS = re.compile(r"(?i)\b(bearer\s+)[^\s'\"\\]+|(?<![a-z0-9])()sk-[a-z0-9_-]{8,}")


def redact(address: str) -> str:
    """Hide what an address keeps secret: its password, and the parameters that look like one."""
    user = "://" if "://" in address else "^"
    address = re.sub(rf"({user}[^:/@]*):.*@", r"\1:***@", address)
    return re.sub(r"(?i)([?&;][^=&]*(?:pass|secret|token|key|sig|cred)[^=&]*=)[^&]*", r"\1***", address)


def redact_said(text: str, key: str = "") -> str:
    """Hide keys in what a server said: the one that it was sent, and what looks like one."""
    return _KEYS.sub(lambda found: (found[1] or "") + HIDDEN, without(text, key))


def without(text: str, secret: str) -> str:
    """Hide a secret, unless it is too short to be one."""
    return text.replace(secret, HIDDEN) if len(secret) >= SECRET_MIN else text
