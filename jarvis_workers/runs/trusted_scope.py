"""The settings of a scan; in CI, a change cannot narrow what is scanned of itself.

There the current directory is a checkout of the change under test, and so are its `jarvis.yaml` and `.jarvisignore`.
Settings that narrow the scan come from the base revision, or from the file that JARVIS_TRUSTED_CONFIG names; where
there is neither (a push, a shallow clone, a first commit), those of the checkout have no effect. What the change
narrows, compared with its base, is recorded, so that it does not pass the gate unseen.

A change may start at any commit of its target branch, also at one whose settings narrowed the scan and were corrected
later. Its settings are therefore compared with those at the tip of that branch, too, where they can be read.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import SettingsError, UsageError
from jarvis_workers.paths import listing, plain, shown
from jarvis_workers.runs.scan_request import selection_of
from jarvis_workers.runs.sources import DEFAULT_BOUNDS
from jarvis_workers.runs.unscanned_sources import ScanPaths, unscanned_sources, written_ignore_files
from jarvis_workers.settings import TOML_FILE, TRUSTED_CONFIG, YAML_FILE, ScopeNotes, Settings, load_settings
from jarvis_workers.settings.scope import ignored_settings, narrowed_settings, with_values_of
from jarvis_workers.snapshots.selection import JARVIS_IGNORE
from jarvis_workers.toolchain import git
from jarvis_workers.toolchain.temporary import temporary_directory

# Set by most CI services; by GitHub Actions, GitLab, Azure Pipelines, Jenkins, TeamCity and AWS CodeBuild.
SERVICES = (
    *("CI", "GITHUB_ACTIONS", "GITLAB_CI"),
    *("TF_BUILD", "JENKINS_URL", "TEAMCITY_VERSION", "CODEBUILD_BUILD_ID"),
)
UNSET = ("", "0", "false", "no", "off")
NO_BASE = f"no base revision can be read here; to use them, set {TRUSTED_CONFIG}"
ALTERS = "this change alters what is scanned"
OLDER = "older than its target branch; merge that"
BEHIND = "the target branch scans more than this change, and decides"
TEMPORARY = "jarvis-scope"
NAMES_MAX = 10
# As Linux itself follows.
LINKS_MAX = 40
# https://docs.github.com/en/actions/reference/variables-reference, https://docs.gitlab.com/ci/variables/predefined_variables/
GITHUB_BRANCH = "GITHUB_BASE_REF"
GITLAB_COMMIT, GITLAB_BRANCH = "CI_MERGE_REQUEST_DIFF_BASE_SHA", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
# Of the target branch; only pipelines for merged results have it.
GITLAB_TIP = "CI_MERGE_REQUEST_TARGET_BRANCH_SHA"
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# Branches that merge each other have several merge bases.
BASES_MAX = 8


# A scan of the whole directory.
WHOLE = ScanPaths()


class Base(NamedTuple):
    """The settings of a revision, and the entries that the checked-out commit adds, edits or deletes, from the top."""

    settings: Settings
    changed: Mapping[bytes, git.Change]
    revision: git.Borrowed


class Bases(NamedTuple):
    """The merge bases of a change, and the tip of its target branch if it can be read and is another commit."""

    left: tuple[Base, ...]
    tip: Base | None


class WayTo(NamedTuple):
    """The way to a file or directory: each entry on it, links among them, and its end, which need not exist."""

    steps: frozenset[Path]
    end: Path

    def is_changed_by(self, path: Path) -> bool:
        """Return whether a change of an entry may change what is at the end."""
        return path in self.steps or path.is_relative_to(self.end)


def is_ci(environ: Mapping[str, str]) -> bool:
    """Return whether this is a job of a CI service, where the checkout may be a change of a stranger."""
    return any(environ.get(name, "").strip().lower() not in UNSET for name in SERVICES)


def load_scan_settings(
    flags: Mapping[str, object],
    *,
    directory: Path,
    environ: Mapping[str, str] = os.environ,
    named: Sequence[str] = (),
    scan: ScanPaths = WHOLE,
) -> Settings:
    """Load the settings of a scan; `named` are files and directories that decide what is reported.

    Raises SettingsError.
    """
    settings = load_settings(flags, environ=environ, directory=directory)
    config = environ.get(TRUSTED_CONFIG)
    if not config and not is_ci(environ):
        return settings
    with temporary_directory(TEMPORARY) as place:
        unset = load_settings(flags, environ=environ, directory=place)
        trusted = load_settings(flags, environ=environ, directory=place, file=Path(config)) if config else None
        ignored = ignored_settings(settings, unset, trusted or unset)
        decided = with_values_of(trusted, settings) if trusted else with_values_of(unset, settings, ignored)
        notes = _notes(ignored, trusted or unset, directory, f"{TRUSTED_CONFIG} decides" if trusted else NO_BASE)
        if trusted is None and (bases := _read_bases(flags, directory, environ, place)):
            decided, notes = _compared(settings, bases, directory, named, scan)
        return decided.with_scope(notes)


def _read_bases(flags: Mapping[str, object], directory: Path, environ: Mapping[str, str], place: Path) -> Bases | None:
    """Read the bases of the change under test into the directory `place`; None if there is none that can be read."""
    repository = place / "repository"
    repository.mkdir()
    for revision in _revisions(environ):
        try:
            borrowed = git.borrow(directory, revision, repository, environ, DEFAULT_BOUNDS)
            commits = git.merge_bases(borrowed)
            if len(commits) > BASES_MAX:
                return None
            read = _BaseReader(flags, directory, environ, place)
            return Bases(tuple(read.base(borrowed, one) for one in commits), read.tip(borrowed, commits))
        except (UsageError, SettingsError, ValueError):
            continue
    return None


class _BaseReader:
    def __init__(self, flags: Mapping[str, object], directory: Path, environ: Mapping[str, str], place: Path) -> None:
        self._flags, self._directory, self._environ, self._place = flags, directory, environ, place

    def base(self, borrowed: git.Borrowed, commit: str) -> Base:
        """Read a base. Raises UsageError, SettingsError, and ValueError if the current directory is not in the tree."""
        files = self._place / commit
        files.mkdir(exist_ok=True)
        inside = self._directory.resolve().relative_to(borrowed.top.resolve())
        for name in (YAML_FILE, TOML_FILE):
            content = git.file_at(borrowed, commit, os.fsencode(inside / name))
            if content is not None:
                (files / name).write_bytes(content)
        settings = load_settings(self._flags, environ=self._environ, directory=files)
        return Base(settings, git.changes_since(borrowed, commit), borrowed._replace(commit=commit))

    def tip(self, borrowed: git.Borrowed, left: list[str]) -> Base | None:
        """Read the tip of the target branch, unless what is known of it here is older than the merge bases."""
        for revision in _tips(self._environ):
            commit = git.commit_of(borrowed, revision)
            if commit is not None and commit not in left and git.has_ancestors(borrowed, commit, left):
                return self.base(borrowed, commit)
        return None


def _revisions(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield revisions into which the change is to be merged, from the variables of a pull or merge request."""
    if branch := environ.get(GITHUB_BRANCH):
        yield f"refs/remotes/origin/{branch}"
        return
    yield from (commit for name in (GITLAB_TIP, GITLAB_COMMIT) if COMMIT.fullmatch(commit := environ.get(name, "")))
    yield from _own_branch(environ)


def _tips(environ: Mapping[str, str]) -> Iterator[str]:
    if branch := environ.get(GITHUB_BRANCH):
        yield f"refs/remotes/origin/{branch}"
        return
    yield from _own_branch(environ)


def _own_branch(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield the target branch in GitLab. The branches of a fork belong to the author of the change."""
    is_own = environ.get("CI_PROJECT_ID") == environ.get("CI_MERGE_REQUEST_PROJECT_ID")
    branch = environ.get(GITLAB_BRANCH)
    if branch and is_own:
        yield f"refs/remotes/origin/{branch}"


def _compared(
    settings: Settings, bases: Bases, directory: Path, named: Sequence[str], scan: ScanPaths
) -> tuple[Settings, ScopeNotes]:
    """Return the settings without what the change narrows, and with what its target branch has widened meanwhile."""
    narrowed = dict.fromkeys(name for base in bases.left for name in narrowed_settings(settings, base.settings))
    for base in bases.left:
        settings = with_values_of(base.settings, settings, narrowed_settings(settings, base.settings))
    behind: tuple[str, ...] = ()
    if tip := bases.tip:
        behind = narrowed_settings(settings, tip.settings)
        settings = with_values_of(tip.settings, settings, behind)
    selection = selection_of(settings, scan.include, scan.exclude)
    places = [directory / name for name in scan.names]
    of_tip = set(_altered_files(tip, directory, named, places)) if tip else set[bytes]()
    files = set[bytes]()
    for base in bases.left:
        files.update(_altered_files(base, directory, named, places))
        files.update(unscanned_sources(base.revision, base.changed, scan, directory, selection))
        files.update(written_ignore_files(base.revision, places, selection))
    older = (f"{shown(file)} ({OLDER})" for file in sorted(of_tip - files))
    altered = (*narrowed, *map(shown, sorted(files)), *older)
    notices = [f"{ALTERS}: {plain(listing(altered, NAMES_MAX))}; its base decides"] if altered else []
    notices += [f"{BEHIND}: {', '.join(behind)}"] if behind else []
    return settings, ScopeNotes(altered, "; ".join(notices) or None)


def _notes(ignored: Sequence[str], trusted: Settings, directory: Path, why: str) -> ScopeNotes:
    """Return a notice about what has no effect; ignore files have some only if a trusted source sets that they do."""
    reads = "use_ignore_files" in trusted.scan.model_fields_set and trusted.scan.use_ignore_files
    if not reads and os.path.lexists(directory / JARVIS_IGNORE):
        ignored = [*ignored, JARVIS_IGNORE]
    says = f"what narrows the scan in this checkout has no effect ({why}): {', '.join(ignored)}"
    return ScopeNotes(notice=says if ignored else None, reads_jarvisignore=reads)


def _altered_files(base: Base, directory: Path, named: Sequence[str], places: Sequence[Path]) -> Iterator[bytes]:
    """Yield the files that decide what is scanned or reported, and that the change adds, edits, deletes or redirects.

    The files of a submodule are not listed as changes: with its commit, each one there may have changed.
    """
    top = base.revision.top.resolve()
    on_the_way = frozenset[Path]().union(*(_way(place).steps for place in places))
    deciding = [directory / Path(one).expanduser() for one in (*named, *base.settings.rules.paths)]
    ways = [way for place in deciding for way in _ways(place)]
    for name in (YAML_FILE, TOML_FILE):
        ways += _ways_of_linked_settings(directory / name, top, base.changed)
    for path, change in sorted(base.changed.items()):
        full = top / os.fsdecode(path)
        is_redirected = change.redirects and full in on_the_way
        if is_redirected or full.name == JARVIS_IGNORE or any(way.is_changed_by(full) for way in ways):
            yield path
        elif change.after == git.SUBMODULE:
            yield from (os.fsencode(file.relative_to(top)) for file in _ignore_files_below(full))


def _ways_of_linked_settings(file: Path, top: Path, changed: Mapping[bytes, git.Change]) -> Iterator[WayTo]:
    """Yield the way to a settings file that is a link, or was one in the base, where links are not followed."""
    change = changed.get(os.fsencode(os.path.relpath(file.parent.resolve() / file.name, top)))
    if _target(file) or (change and change.before == git.SYMBOLIC_LINK):
        yield _way(file)


def _ways(place: Path) -> Iterator[WayTo]:
    """Yield the way to a file or directory, and those to the links in the directory."""
    way = _way(place)
    yield way
    try:
        yield from [_way(one) for one in way.end.iterdir() if one.is_symlink()]
    except (OSError, ValueError):
        return


def _way(place: Path) -> WayTo:
    """Follow a path by its entries; unlike by `resolve`, links on it and a missing end are not lost."""
    steps, end = [], Path("/")
    parts = list(reversed(place.absolute().parts))
    links = 0
    while parts:
        part = parts.pop()
        step = end.parent if part == ".." else end / part
        steps.append(step)
        target = _target(step) if links < LINKS_MAX else None
        if target is None:
            end = step
        else:
            links += 1
            parts += reversed(target.parts)
    return WayTo(frozenset(steps), end)


def _target(link: Path) -> Path | None:
    """Return the target of a link; None for anything else, such as a name that is too long."""
    try:
        return link.readlink()
    except (OSError, ValueError):
        return None


def _ignore_files_below(directory: Path) -> Iterator[Path]:
    """Yield the ignore files of a submodule, and of the submodules in it."""
    for place, directories, files in os.walk(directory):
        directories.sort()
        if JARVIS_IGNORE in files:
            yield Path(place, JARVIS_IGNORE)
