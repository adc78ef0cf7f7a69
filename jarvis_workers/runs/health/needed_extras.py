"""The extras that the configured servers need: checked before a run is submitted, and by `jarvis doctor`."""

from jarvis_workers.extras import MODULES, advice, is_installed, require
from jarvis_workers.runs.health.doctor import Check
from jarvis_workers.settings import Settings

OBJECT_STORES = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs"}


def needed_extras(settings: Settings) -> dict[str, str]:
    """Return the extras that the settings need, each with a description of the feature that needs it."""
    blobs = settings.effective_blobs_url.partition("://")[0]
    needed = {
        "postgres": settings.effective_store_url.startswith("postgres") and "a PostgreSQL store (JARVIS_STORE_URL)",
        "cluster": settings.place == "cluster" and "a cluster (JARVIS_BROKER_URL)",
        OBJECT_STORES.get(blobs, ""): blobs in OBJECT_STORES and f"{blobs}:// (JARVIS_BLOBS_URL)",
    }
    return {extra: what for extra, what in needed.items() if what}


def require_extras(settings: Settings) -> None:
    """Raise UsageError with an installation hint if a needed extra is not installed."""
    for extra, what in needed_extras(settings).items():
        require(extra, what)


def missing_extras(settings: Settings) -> dict[str, Check]:
    """Return a failed check for each needed extra that is not installed."""
    return {
        extra: Check(f"extra {extra}", "fail", f"{what} needs {', '.join(absent)}, not installed", advice(extra))
        for extra, what in needed_extras(settings).items()
        if (absent := [module for module in MODULES[extra] if not is_installed(module)])
    }
