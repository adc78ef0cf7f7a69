"""A request is resolved once and then only read: it does not go back and forth between the files that pass it on."""

from pathlib import Path

from tests.support.request_walk import Walk, walk

ROOT = Path(__file__).parents[1]
CLI = """\
from app import service


def main(options):
    settings = service.load(options.where)
    if settings.quiet == "yes":
        raise ValueError(service.name(options))
    length = service.count(options)
    service.check(length)
    report(service.scan(settings))


def report(result):
    service.show(result)
"""
SERVICE = """\
from dataclasses import dataclass
from functools import partial


@dataclass
class Settings:
    where: str

    @property
    def place(self):
        return strip(self.where)

    def path(self):
        return self.place


def load(where) -> Settings:
    return Settings(strip(where))


def strip(text):
    return text.strip()


def count(options):
    return 3


def scan(settings: Settings):
    def begin(name):
        return settings.path()

    return repeated(partial(begin, "a"))


def repeated(function):
    return function()


def show(result):
    print(result)


def check(length):
    print(length)
"""
# The name in the error is no way of the request, nor is what `check` gets; a property is read without a call.
WAY = ["main", "load", "strip", "count", "scan", "repeated", "begin", "path", "strip", "report", "show"]


def test_the_calls_that_pass_a_value_on_are_followed_once_in_the_order_of_the_source(tmp_path: Path) -> None:
    assert [event.function for event in _walk_of_sample(tmp_path).events] == WAY


def test_a_stay_is_a_sequence_of_events_in_a_file_and_a_return_a_stay_in_one_that_was_left(tmp_path: Path) -> None:
    done = _walk_of_sample(tmp_path)

    assert [stay.path for stay in done.stays] == ["app/cli.py", "app/service.py"] * 2
    assert (done.returns, done.climbs, done.visits("app/cli.py")) == (2, 1, 2)


def test_a_walk_ends_after_its_number_of_events(tmp_path: Path) -> None:
    _write_sample(tmp_path)

    assert [event.function for event in walk(tmp_path, "app.cli:main:options", 2, ("app",)).events] == ["main", "load"]


def test_a_request_to_scan_is_resolved_once_before_it_scans() -> None:
    """It made 68 stays with 45 returns when each command resolved it in pieces; to the end, 192 with 132.

    The functions that submit a run of any kind are in a file of their own, which adds seven stays to the end.
    """
    done = walk(ROOT, "jarvis_workers.sec.commands.main:fast:options")
    resolved = done.until("scan_small")

    assert len(resolved.events) > 100  # else the walk lost the request
    assert len(resolved.stays) <= 39
    assert resolved.returns <= 16
    assert len(done.stays) <= 153
    assert done.returns <= 95


def test_the_request_of_a_conversion_comes_back_to_its_command_once() -> None:
    """Its command read the same record in nine visits when each part of the request was a record of its own."""
    done = walk(ROOT, "jarvis_workers.c2rust.commands.fast:convert_project:command")

    assert len(done.events) > 100
    assert done.visits("jarvis_workers/c2rust/commands/fast.py") <= 2


def _walk_of_sample(directory: Path) -> Walk:
    _write_sample(directory)
    return walk(directory, "app.cli:main:options", within=("app",))


def _write_sample(directory: Path) -> None:
    (directory / "app").mkdir()
    (directory / "app" / "__init__.py").touch()
    (directory / "app" / "cli.py").write_text(CLI)
    (directory / "app" / "service.py").write_text(SERVICE)
    contract = 'type = "layers"\nlayers = ["app.cli", "(app.service) | app.other"]\n'
    (directory / "pyproject.toml").write_text(f"[[tool.importlinter.contracts]]\n{contract}")
