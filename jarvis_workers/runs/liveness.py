"""Whether a worker of this machine is alive: the check behind container health checks and probes.

It runs every few seconds beside the worker, so the settings are read only if no variable names the data directory.
"""

from collections.abc import Mapping
from pathlib import Path

from jarvis_workers.executors.dispatch.heartbeats import heartbeat_age


def worker_problem(environ: Mapping[str, str], directory: Path, max_age: float) -> str | None:
    """Return why no worker counts as alive, or None if one had a heartbeat within `max_age` seconds.

    Raises SettingsError if the data directory is not in `environ` and the settings in `directory` are invalid.
    """
    data = _data_directory(environ, directory)
    age = heartbeat_age(data)
    if age is None:
        return f"no worker runs with the data directory {data}"
    if age > max_age:
        return f"the last heartbeat of a worker in {data} is {age:.0f} s old, more than {max_age:g} s"
    return None


def _data_directory(environ: Mapping[str, str], directory: Path) -> Path:
    if named := environ.get("JARVIS_DATA_DIR"):
        return (directory / Path(named).expanduser()).absolute()
    from jarvis_workers.settings import load_settings  # noqa: PLC0415  (slow to import)

    return load_settings(environ=environ, directory=directory).data_dir
