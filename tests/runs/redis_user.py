"""The permissions of a Redis user as docs/cluster.md gives them."""

import re
from pathlib import Path

CLUSTER = Path(__file__).parents[2] / "docs" / "cluster.md"


def acl_line(user: str, password: str) -> list[str]:
    """Return the documented command that creates a user, for another name and password."""
    found = re.search(r"^ACL SETUSER jarvis .*$", CLUSTER.read_text(encoding="utf-8"), re.MULTILINE)
    assert found, "docs/cluster.md has no ACL SETUSER"
    words = found[0].split()
    return [{"jarvis": user, ">PASSWORD": f">{password}"}.get(word, word) for word in words]
