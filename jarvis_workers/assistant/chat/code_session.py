"""The changes of one command in one repository; each one starts where the one before ended."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from jarvis_workers.assistant.chat.code_acceptance import accept_change
from jarvis_workers.assistant.chat.code_branches import code_runs, decision_of, publish_change, read_change
from jarvis_workers.assistant.chat.code_request import (
    CodeInput,
    code_request,
    create_code_repository,
    find_code_repository,
)
from jarvis_workers.assistant.chat.code_tools import check_tools, tool_names
from jarvis_workers.assistant.chat.repository_lock import lock_repository
from jarvis_workers.assistant.code.code_options import CodeRequest
from jarvis_workers.runs import wiring
from jarvis_workers.runs.models import model_name
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.scan_request import blobs_of
from jarvis_workers.settings import Settings
from jarvis_workers.store.values import Run
from jarvis_workers.toolchain.local_repository import LocalRepository

Tell = Callable[[str], None]


def check_request(settings: Settings, request: CodeRequest, tell: Tell) -> None:
    """Raise UsageError for tools or a model that are not there."""
    check_tools(settings, tool_names(settings, request.tool_group, tuple(request.append_tools)), tell)
    model_name(settings, request.options.model_group)


@dataclass
class CodeSession:
    """The repository, and the `last` run of this command; `tell` shows that another process holds the store."""

    settings: Settings
    repository: LocalRepository
    tell: Tell
    last: Run | None = None

    def lock(self) -> AbstractContextManager[None]:
        """Keep other commands from changing the repository. Raises UsageError."""
        return lock_repository(self.repository.top, self.settings.data_dir)

    def unfinished(self) -> Run | None:
        """Return the newest run of the repository if it has not ended."""
        with wiring.store_of(self.settings, tell=self.tell) as store:
            return next((run for run in code_runs(store, self.repository.top) if not run.ended), None)

    def request(self, change: CodeRequest, executor: str, tell: Tell) -> RunRequest[CodeInput]:
        """Return the request of a run. Raises UsageError."""
        return code_request(self.settings, self.repository, change, executor, tell)

    def accept_last(self, agrees: Callable[[], bool]) -> None:
        """Accept the last change, if it changed anything and the person agrees."""
        with wiring.store_of(self.settings, tell=self.tell) as store:
            blobs, run = blobs_of(self.settings), self.last
            change = read_change(store, blobs, run) if run else None
            if run and change and change.files and agrees():
                self.tell(f"run {run.id}: {accept_change(store, blobs, run, self.settings.data_dir)}")

    def continued(self, request: CodeRequest) -> CodeRequest:
        """Return the request for the next task: it starts at the branch of the last run, if that changed anything."""
        if self.last is None:
            return request
        with wiring.store_of(self.settings, tell=self.tell) as store:
            change = read_change(store, blobs_of(self.settings), self.last)
            if change is None or decision_of(store, change.run):
                return replace(request, start=None, copied="")
            published = publish_change(change, self.settings.data_dir)
        if published is None:
            return request
        earlier = "\n\n".join(
            (request.options.earlier, change.options.task, change.answer["text"], change.answer["preview"])
        )
        options = replace(request.options, earlier=earlier.strip())
        return replace(request, options=options, start=published.commit, copied=change.options.copied)


def find_session(settings: Settings, place: Path, tell: Tell) -> CodeSession | None:
    """Return a session in the repository around a directory, or None."""
    found = find_code_repository(place)
    return CodeSession(settings, found, tell) if found else None


def create_session(settings: Settings, place: Path, tell: Tell) -> CodeSession:
    """Make a directory a repository, and return a session in it."""
    return CodeSession(settings, create_code_repository(place), tell)
