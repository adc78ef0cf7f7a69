"""What an installation may lack: the extras of the package, and the modules that each brings.

Advice names the distributions themselves, from the package's own metadata: they can be installed wherever the package
came from.
"""

import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

from jarvis_workers.errors import UsageError

__all__ = ["MODULES", "advice", "extra_of", "is_installed", "require"]

DISTRIBUTION = "jarvis-workers"
MODULES = {
    "agents": ("openai", "aiohttp", "httpx2", "jinja2"),
    "cluster": ("celery", "kombu", "redis"),
    "postgres": ("psycopg",),
    "flower": ("flower",),
    "s3": ("s3fs",),
    "gcs": ("gcsfs",),
    "re2": ("re2",),
}


def require(extra: str, what: str) -> None:
    """Raise UsageError, with what to install, unless all that `what` needs of an extra is there."""
    absent = [module for module in MODULES[extra] if not is_installed(module)]
    if absent:
        raise UsageError(f"{what} needs {absent[0]}, which is not installed; {advice(extra)}")


def is_installed(module: str) -> bool:
    """Say whether a module can be imported, without importing it."""
    return module in sys.modules or find_spec(module) is not None


def extra_of(module: str) -> str | None:
    """Return the extra that brings a module, by its name or that of a module inside it; None if none does."""
    top = module.partition(".")[0]
    return next((extra for extra, modules in MODULES.items() if top in modules), None)


def advice(extra: str) -> str:
    """Say how to install an extra, in a few words."""
    distributions = " ".join(f"'{one}'" for one in _distributions(extra))
    name = f'the extra "{extra}" of {DISTRIBUTION}'
    return f"install it with: pip install {distributions} ({name})" if distributions else f"install {name}"


def _distributions(extra: str) -> Iterator[str]:
    try:
        lines = requires(DISTRIBUTION) or []
    except PackageNotFoundError:
        return
    for line in lines:
        requirement, _, marker = line.partition(";")
        if marker.replace('"', "'").strip() == f"extra == '{extra}'":
            yield requirement.strip()
