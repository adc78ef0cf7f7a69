"""Optional dependencies: the extras of the package, and the modules that each provides.

Messages list the distributions, from the package's own metadata, so that they can be installed regardless of how the
package itself was installed.
"""

import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

from jarvis_workers.errors import UsageError

DISTRIBUTION = "jarvis-workers"
MODULES = {
    "agents": ("openai", "aiohttp", "httpx2", "jinja2"),
    "assistant": ("mcp", "prompt_toolkit"),
    "cluster": ("celery", "kombu", "redis"),
    "postgres": ("psycopg",),
    "flower": ("flower",),
    "s3": ("s3fs",),
    "gcs": ("gcsfs", "fsspec"),
    "metrics": ("prometheus_client",),
    "traces": ("opentelemetry",),
    "web": ("flask", "flask_wtf", "flask_openapi3", "waitress"),
    "re2": ("re2",),
    "c2rust": ("clang", "clang_tidy"),
}


def require(extra: str, what: str) -> None:
    """Raise UsageError with an installation hint if a module of an extra is missing; `what` names the feature."""
    absent = [module for module in MODULES[extra] if not is_installed(module)]
    if absent:
        raise UsageError(f"{what} needs {absent[0]}, which is not installed; {advice(extra)}")


def is_installed(module: str) -> bool:
    """Return whether a module can be imported, without importing it."""
    return sys.modules[module] is not None if module in sys.modules else find_spec(module) is not None


def extra_of(module: str) -> str | None:
    """Return the extra that provides a module or the package containing it, or None."""
    top = module.partition(".")[0]
    return next((extra for extra, modules in MODULES.items() if top in modules), None)


def advice(extra: str) -> str:
    """Return a short installation hint for an extra."""
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
