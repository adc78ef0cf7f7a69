"""Whether two scans are of one source tree: findings of different trees are all new or all gone.

Directories may differ, as those of two versions or of two CI jobs do. Scans of directories without a common file are
not comparable.
"""

import re
from collections.abc import Mapping
from typing import Any

Part = Mapping[str, Any]
# Behind the address of a repository.
REVISION = re.compile(r"@[0-9a-f]{40,64}\Z")


def different_trees(before: Part, after: Part) -> str | None:
    """Return the directories of two scans by their `run` parts, None if both are of one tree, or one is not known."""
    roots = [_top(part) for part in (before, after)]
    addresses = [part.get("repository_url") for part in (before, after)]
    if not all(roots) or roots[0] == roots[1] or (addresses[0] and addresses[0] == addresses[1]):
        return None
    return " -> ".join(roots)


def _top(part: Part) -> str:
    """Return the top of the repository of a scan, or the scanned directory if it is in none."""
    root = REVISION.sub("", str(part.get("scanned_root") or "").rstrip("/"))
    prefix = str(part.get("path_prefix") or "")
    return root.removesuffix(f"/{prefix}") if prefix else root
