"""Check which other analyzers a scan on this machine can run."""

from jarvis_workers.runs.health.doctor import Check
from jarvis_workers.toolchain.analyzers import installed_analyzers


def examine_analyzers() -> list[Check]:
    """Return a check for each analyzer; only scans with `--witness` need them."""
    return [
        Check(name, "warn", found, f"only --witness {name} needs it")
        if isinstance(found, str)
        else Check(name, "ok", f"{found.path} {found.version}")
        for name, found in installed_analyzers().items()
    ]
