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
from jarvis_workers.service.sources import DEFAULT_BOUNDS
from jarvis_workers.settings import TOML_FILE, TRUSTED_CONFIG, YAML_FILE, ScopeNotes, Settings, load_settings
from jarvis_workers.settings.scope import narrowed_settings, with_values_of
from jarvis_workers.snapshots.selection import JARVIS_IGNORE
from jarvis_workers.toolchain import git
from jarvis_workers.toolchain.temporary import temporary_directory

# Set by most CI services, by GitHub Actions, and by GitLab.
SERVICES = ("CI", "GITHUB_ACTIONS", "GITLAB_CI")
# https://docs.github.com/en/actions/reference/variables-reference, https://docs.gitlab.com/ci/variables/predefined_variables/
GITHUB_BRANCH = "GITHUB_BASE_REF"
GITLAB_COMMIT, GITLAB_BRANCH = "CI_MERGE_REQUEST_DIFF_BASE_SHA", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
DELETED = b"D"
NO_BASE = f"no base revision can be read here; to use them, set {TRUSTED_CONFIG}"
TEMPORARY = "jarvis-scope"
NAMES_MAX = 10


class Base(NamedTuple):
    """The settings of the base revision, and the files below `top` that the change adds or edits."""

    settings: Settings
    changed: frozenset[bytes]
    top: Path


def is_ci(environ: Mapping[str, str]) -> bool:
    """Return whether this is a job of a CI service, where the checkout may be a change of a stranger."""
    return any(environ.get(name, "").lower() in ("true", "1") for name in SERVICES)


def load_scan_settings(
    flags: Mapping[str, object],
    *,
    directory: Path,
    environ: Mapping[str, str] = os.environ,
    named: Sequence[str] = (),
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
            altered = (*narrowed, *_altered_files(base, directory, named))
            names = plain(listing(altered, NAMES_MAX))
            notice = f"this change alters what is scanned: {names}; its base decides" if altered else None
            return with_values_of(base.settings, settings, narrowed).with_scope(ScopeNotes(altered, notice))
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
    return Base(settings, frozenset(path for path, letter in changes.items() if letter != DELETED), borrowed.top)


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


def _altered_files(base: Base, directory: Path, named: Sequence[str]) -> Iterator[str]:
    """Yield the files that decide what is scanned or reported, and that the change adds or edits."""
    top = base.top.resolve()
    places = [(directory / Path(one).expanduser()).resolve() for one in (*named, *base.settings.rules.paths)]
    for path in sorted(base.changed):
        full = top / os.fsdecode(path)
        if full.name == JARVIS_IGNORE or any(full.is_relative_to(place) for place in places):
            yield shown(path)
