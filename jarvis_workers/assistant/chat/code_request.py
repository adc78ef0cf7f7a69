"""Submit a run that changes code: the sources are those of a commit of the user's repository.

With `with_changes`, that commit is a new one, on no branch, with the uncommitted changes.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from jarvis_workers.assistant.chat.code_tools import tool_names
from jarvis_workers.assistant.code.code_options import CodeOptions, CodeRequest
from jarvis_workers.assistant.code.pipelines import CODE
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, read_regular
from jarvis_workers.runs.budgets import budget_of
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.models import model_name
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.scan_request import request_for, with_settings
from jarvis_workers.runs.sources import SourceTree, project_name, source_labels
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.toolchain.git_import import AUTHOR, Author, create_repository
from jarvis_workers.toolchain.gittree import TreeBounds
from jarvis_workers.toolchain.local_repository import LocalRepository

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings
    from jarvis_workers.store.engine import Store


# Rules for agents that change code: files of the user and of the project, which become one text in the prompt.

RULES, SUFFIX = "rules", ".md"
MOST_BYTES = 64_000


def read_rules(data: Path, project: Path) -> str:
    """Return the texts of all rule files, separated by blank lines. Raises UsageError for one that cannot be used."""
    files = [*_files(data, data / RULES), *_files(project, project / ".jarvis" / RULES)]
    texts = [text for root, file in files if (text := _read(root, file))]
    joined = "\n\n".join(texts)
    if len(joined.encode()) > MOST_BYTES:
        raise UsageError(f"the rules have more than {MOST_BYTES:,} bytes; shorten {plain(str(files[-1][1]))}")
    return joined


def _files(root: Path, place: Path) -> list[tuple[Path, Path]]:
    if place.is_dir():
        return [(root, file) for file in sorted(place.iterdir()) if file.suffix == SUFFIX and file.is_file()]
    return [(root, place)] if place.is_file() else []


def _read(root: Path, file: Path) -> str:
    if not file.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"{plain(str(file))}: links out of {plain(str(root))} are not followed; copy the file there")
    try:
        content = read_regular(file, MOST_BYTES)
        if len(content) > MOST_BYTES:
            raise UsageError(f"{plain(str(file))}: more than {MOST_BYTES:,} bytes of rules; shorten it")
        return content.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise UsageError(f"{plain(str(file))}: not UTF-8 text") from error
    except OSError as error:
        raise UsageError(f"{plain(str(file))}: cannot be read: {error.strerror}") from error


NO_SOURCES = "no-sources"
EARLIER_MAX = 100_000
# A change takes many calls, and the same build or test after each edit; the rounds limit them.
SAME_CALL = 10

Tell = Callable[[str], None]


@dataclass(frozen=True)
class CodeInput(RunInput):
    """The input of a run: its options, and the archive of the sources."""

    options: CodeOptions
    archive: bytes = b""
    names_paths: ClassVar[bool] = False

    @property
    def contents(self) -> tuple[bytes, ...]:
        """Return the archive."""
        return (self.archive,)

    def complete(self, selection: Selection, store: "Store | None") -> CodeOptions:
        """Return the options with the name of the blob."""
        return replace(self.options, archive=sha256(self.archive).hexdigest())


def find_code_repository(place: Path) -> LocalRepository | None:
    """Return the repository around a directory, or None."""
    return LocalRepository.around(place, os.environ)


def create_code_repository(place: Path) -> LocalRepository:
    """Make a directory a repository."""
    return LocalRepository(create_repository(place, os.environ).top, os.environ)


def code_request(
    settings: "Settings", repository: LocalRepository, change: CodeRequest, executor: str, tell: Tell
) -> RunRequest[CodeInput]:
    """Return the request of a run. Raises UsageError for a repository or options that cannot be used."""
    options = _options(settings, repository, change)
    author = _author(settings, repository, tell)
    bounds = TreeBounds(settings.scan.git_max_files, int(settings.code.max_mb * 1_000_000), "code.max_mb")
    base, copied, closed = _base(repository, change, author, bounds, tell)
    archive = repository.pack(base, bounds)
    branch = repository.branch
    options = replace(
        options,
        base=base,
        copied=copied,
        closed=closed,
        author=list(author),
        checkout={"branch": branch, "commit": base},
    )
    if branch is None:
        tell(f"HEAD is detached at {base[:12]}; the change gets a branch of its own")
    if not options.gate:
        tell("no gate is set (--gate, code.gate): the change is not checked by a command")
    return _request(settings, repository, executor, CodeInput(options, archive))


def _options(settings: "Settings", repository: LocalRepository, change: CodeRequest) -> CodeOptions:
    """Return the options of a run, but for its sources and its author. Raises UsageError."""
    options = change.options
    return with_settings(
        settings,
        options,
        model_group=model_name(settings, options.model_group),
        agent_limits=replace(agent_limits_of(settings), tool_calls=settings.agent.rounds, same_call=SAME_CALL),
        gate=settings.code.gate or "",
        rule_text=read_rules(settings.data_dir, repository.top),
        earlier=options.earlier[-EARLIER_MAX:],
        tools=tool_names(settings, change.tool_group, tuple(change.append_tools)),
        project=project_name(str(repository.top)) if settings.agent.memory else "",
        prefix=_line(options.prefix, "--prefix"),
        suffix=_line(options.suffix, "--suffix"),
    )


def _request(
    settings: "Settings", repository: LocalRepository, executor: str, run_input: CodeInput
) -> RunRequest[CodeInput]:
    """Return the request; its sources are in the archive, so that the snapshot is empty."""
    nothing = settings.data_dir / "cache" / NO_SOURCES
    nothing.mkdir(parents=True, exist_ok=True)
    root = os.fsencode(repository.top)
    labels = source_labels(SourceTree(repository.top, root))
    request = request_for(settings, SourceTree(nothing, root), CODE, executor, run_input, labels=labels)
    budget = budget_of(settings, run_input.options.model_group)
    return replace(request, selection=Selection(suffixes=None), may_be_empty=True, budget=budget)


def _base(
    repository: LocalRepository, change: CodeRequest, author: Author, bounds: TreeBounds, tell: Tell
) -> tuple[str, str, list[str]]:
    """Return the commit to start from, the copied changes, and the submodules."""
    if change.start:
        return change.start, change.copied, repository.submodules(change.start, bounds)
    head = repository.head
    closed = repository.submodules(head, bounds) if head else []
    if change.with_changes:
        copied = repository.copy_changes(head, author, int(time.time()), closed)
        return copied, copied if copied != head else "", closed
    if head is None:
        raise UsageError(
            f"{plain(str(repository.top))}: the repository has no commit to start from; make one (git commit), or add "
            "--with-changes to start from the files that are there"
        )
    if dirty := len(repository.dirty_paths()):
        files = "1 uncommitted file is" if dirty == 1 else f"{dirty:,} uncommitted files are"
        tell(f"the change starts at HEAD, {head[:12]}; {files} not part of it (--with-changes copies them)")
    return head, "", closed


def _author(settings: "Settings", repository: LocalRepository, tell: Tell) -> Author:
    author = repository.author()
    if author is None and settings.code.git_check == "strict":
        raise UsageError("git has no user.name and user.email (code.git_check is strict); set them with: git config")
    if author is None:
        tell(f"git has no user.name and user.email: the author of the commit is {AUTHOR}")
    return author or AUTHOR


def _line(text: str, option: str) -> str:
    if not text.isprintable():
        raise UsageError(f"{option} should be one line of printable characters")
    return text
