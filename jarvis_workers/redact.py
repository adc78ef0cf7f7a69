"""Hide secrets in what is shown."""

import re


def redact(address: str) -> str:
    """Hide what an address keeps secret: its password, and the parameters that look like one."""
    user = "://" if "://" in address else "^"
    address = re.sub(rf"({user}[^:/@]*):.*@", r"\1:***@", address)
    return re.sub(r"(?i)([?&;][^=&]*(?:pass|secret|token|key|sig|cred)[^=&]*=)[^&]*", r"\1***", address)
