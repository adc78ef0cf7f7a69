"""Shell completion of values: run ids, severities, formats, model groups, settings.

Errors result in no completions: nothing here raises or writes, and slow modules are imported only on demand.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from pathlib import Path

from jarvis_workers.errors import JarvisError
from jarvis_workers.report_formats import FORMAT_NAMES

RUNS_MAX = 50
LISTED = ","
Complete = Callable[[str], list[tuple[str, str]]]


def completed(find: Callable[[], Iterator[tuple[str, str]]]) -> Complete:
    """Return a completion function for an iterator of (value, description); several values are joined by commas."""

    @wraps(find)
    def complete(incomplete: str) -> list[tuple[str, str]]:
        before, comma, last = incomplete.rpartition(LISTED)
        try:
            return [(f"{before}{comma}{value}", about) for value, about in find() if value.startswith(last)]
        except (JarvisError, OSError):
            return []

    # typer inspects the parameters of the function itself, not of the wrapped one.
    del complete.__wrapped__
    complete.__annotations__ = {"incomplete": str}
    return complete


def without_descriptions(values: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Return the values with empty descriptions."""
    return ((value, "") for value in values)


@completed
def formats() -> Iterator[tuple[str, str]]:
    return without_descriptions(FORMAT_NAMES)


@completed
def severities() -> Iterator[tuple[str, str]]:
    return without_descriptions(("high", "medium", "low"))


@completed
def settings() -> Iterator[tuple[str, str]]:
    from jarvis_workers.settings import origins  # noqa: PLC0415

    return ((one.setting, str(one.value)) for one in origins(directory=Path.cwd()))


@completed
def groups() -> Iterator[tuple[str, str]]:
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    return without_descriptions(sorted(load_settings(directory=Path.cwd()).models))


@completed
def runs() -> Iterator[tuple[str, str]]:
    from jarvis_workers.runs.run_list import list_runs, shown_state  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    found = list_runs(load_settings(directory=Path.cwd()), RUNS_MAX)
    yield from ((run.id, f"{run.kind} {shown_state(run)} {run.root}") for run in found)
    if found:
        yield "last", "the newest run"
