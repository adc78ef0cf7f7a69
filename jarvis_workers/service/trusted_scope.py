"""The settings of a scan; in CI, a change cannot narrow what is scanned of itself.

There the current directory is a checkout of the change under test, and so are its `jarvis.yaml` and `.jarvisignore`.
Settings that narrow the scan come from the base revision, or from the file that JARVIS_TRUSTED_CONFIG names; where
there is neither (a push, a shallow clone, a first commit), those of the checkout have no effect. What the change
narrows, compared with its base, is recorded, so that it does not pass the gate unseen.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.errors import SettingsError, UsageError
from jarvis_workers.paths import listing, plain, shown
from jarvis_workers.service.scan_request import selection_of
from jarvis_workers.service.sources import DEFAULT_BOUNDS
from jarvis_workers.service.unscanned_sources import ScanPaths, unscanned_sources
from jarvis_workers.service.written_ignore_files import written_ignore_files
from jarvis_workers.settings import TOML_FILE, TRUSTED_CONFIG, YAML_FILE, ScopeNotes, Settings, load_settings
from jarvis_workers.settings.scope import narrowed_settings, with_values_of
from jarvis_workers.snapshots.selection import JARVIS_IGNORE
from jarvis_workers.toolchain import git
from jarvis_workers.toolchain.temporary import temporary_directory

# Set by most CI services; by GitHub Actions, GitLab, Azure Pipelines, Jenkins, TeamCity and AWS CodeBuild.
SERVICES = (
    *("CI", "GITHUB_ACTIONS", "GITLAB_CI"),
    *("TF_BUILD", "JENKINS_URL", "TEAMCITY_VERSION", "CODEBUILD_BUILD_ID"),
)
UNSET = ("", "0", "false", "no", "off")
# https://docs.github.com/en/actions/reference/variables-reference, https://docs.gitlab.com/ci/variables/predefined_variables/
GITHUB_BRANCH = "GITHUB_BASE_REF"
GITLAB_COMMIT, GITLAB_BRANCH = "CI_MERGE_REQUEST_DIFF_BASE_SHA", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
NO_BASE = f"no base revision can be read here; to use them, set {TRUSTED_CONFIG}"
TEMPORARY = "jarvis-scope"
NAMES_MAX = 10
# As Linux itself follows.
LINKS_MAX = 40


# A scan of the whole directory.
WHOLE = ScanPaths()


class Base(NamedTuple):
    """The settings of the base revision, and the entries that the change adds, edits or deletes, from the top."""

    settings: Settings
    changed: Mapping[bytes, git.Change]
    revision: git.Borrowed


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
        if config:
            trusted = load_settings(flags, environ=environ, directory=place, file=Path(config))
            ignored = [name for name in narrowed_settings(settings, unset) if _differs(name, settings, trusted)]
            settings = with_values_of(trusted, settings)
            return settings.with_scope(_without(ignored, trusted, directory, f"{TRUSTED_CONFIG} decides"))
        if base := _read_base(flags, directory, environ, place):
            narrowed = narrowed_settings(settings, base.settings)
            settings = with_values_of(base.settings, settings, narrowed)
            files = sorted(
                {*_altered_files(base, directory, named, scan), *_unscanned(base, directory, scan, settings)}
            )
            altered = (*narrowed, *map(shown, files))
            names = plain(listing(altered, NAMES_MAX))
            notice = f"this change alters what is scanned: {names}; its base decides" if altered else None
            return settings.with_scope(ScopeNotes(altered, notice))
        ignored = [*narrowed_settings(settings, unset)]
        return with_values_of(unset, settings, ignored).with_scope(_without(ignored, unset, directory, NO_BASE))


def _differs(name: str, settings: Settings, trusted: Settings) -> bool:
    value = attrgetter(name)
    return bool(value(settings) != value(trusted))


def _without(ignored: Sequence[str], trusted: Settings, directory: Path, why: str) -> ScopeNotes:
    """Return a notice about what has no effect; ignore files have some only if a trusted source sets that they do."""
    reads = "use_ignore_files" in trusted.scan.model_fields_set and trusted.scan.use_ignore_files
    if not reads and os.path.lexists(directory / JARVIS_IGNORE):
        ignored = [*ignored, JARVIS_IGNORE]
    says = f"what narrows the scan in this checkout has no effect ({why}): {', '.join(ignored)}"
    return ScopeNotes(notice=says if ignored else None, reads_jarvisignore=reads)


def _read_base(flags: Mapping[str, object], directory: Path, environ: Mapping[str, str], place: Path) -> Base | None:
    """Return the base of the change under test, or None if there is none or it cannot be read."""
    revision = _base_revision(environ)
    if revision is None:
        return None
    files, repository = place / "files", place / "repository"
    files.mkdir()
    repository.mkdir()
    try:
        borrowed = git.borrow(directory, revision, repository, environ, DEFAULT_BOUNDS)
        commit = git.merge_base(borrowed)
        inside = directory.resolve().relative_to(borrowed.top.resolve())
        for name in (YAML_FILE, TOML_FILE):
            content = git.file_at(borrowed, commit, os.fsencode(inside / name))
            if content is not None:
                (files / name).write_bytes(content)
        settings = load_settings(flags, environ=environ, directory=files)
        changes = git.changes_since(borrowed, commit)
    except (UsageError, SettingsError, ValueError):
        return None
    return Base(settings, changes, borrowed._replace(commit=commit))


def _base_revision(environ: Mapping[str, str]) -> str | None:
    """Return the revision into which the change is to be merged, from the variables of a pull or merge request."""
    if branch := environ.get(GITHUB_BRANCH):
        return f"refs/remotes/origin/{branch}"
    commit = environ.get(GITLAB_COMMIT, "")
    if COMMIT.fullmatch(commit):
        return commit
    # The branches of a fork belong to the author of the change.
    is_own = environ.get("CI_PROJECT_ID") == environ.get("CI_MERGE_REQUEST_PROJECT_ID")
    branch = environ.get(GITLAB_BRANCH)
    return f"refs/remotes/origin/{branch}" if branch and is_own else None


def _unscanned(base: Base, directory: Path, scan: ScanPaths, settings: Settings) -> Iterator[bytes]:
    """Yield the sources that are taken out of the scan, and the ignore files that are not those of the base."""
    selection = selection_of(settings, scan.include, scan.exclude)
    yield from unscanned_sources(base.revision, base.changed, scan, directory, selection)
    yield from written_ignore_files(base.revision, scan.places(directory), selection)


def _altered_files(base: Base, directory: Path, named: Sequence[str], scan: ScanPaths) -> Iterator[bytes]:
    """Yield the files that decide what is scanned or reported, and that the change adds, edits, deletes or redirects.

    The files of a submodule are not listed as changes: with its commit, each one there may have changed.
    """
    top = base.revision.top.resolve()
    on_the_way = frozenset[Path]().union(*(_way(place).steps for place in scan.places(directory)))
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
