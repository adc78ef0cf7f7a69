"""The settings of a scan; in CI, a change cannot narrow what is scanned of itself.

There the current directory is a checkout of the change under test, and so are its `jarvis.yaml` and `.jarvisignore`.
Settings that narrow the scan come from the base revision, or from the file that JARVIS_TRUSTED_CONFIG names; where
there is neither (a push, a shallow clone, a first commit), those of the checkout have no effect. What the change
narrows, compared with its base, is recorded, so that it does not pass the gate unseen.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from jarvis_workers.paths import listing, plain, shown
from jarvis_workers.service.base_revision import Base, Bases, read_bases
from jarvis_workers.service.scan_request import selection_of
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
NO_BASE = f"no base revision can be read here; to use them, set {TRUSTED_CONFIG}"
ALTERS = "this change alters what is scanned"
OLDER = "older than its target branch; merge that"
BEHIND = "the target branch scans more than this change, and decides"
TEMPORARY = "jarvis-scope"
NAMES_MAX = 10
# As Linux itself follows.
LINKS_MAX = 40


# A scan of the whole directory.
WHOLE = ScanPaths()


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
        if bases := read_bases(flags, directory, environ, place):
            return _compared(settings, bases, directory, named, scan)
        ignored = [*narrowed_settings(settings, unset)]
        return with_values_of(unset, settings, ignored).with_scope(_without(ignored, unset, directory, NO_BASE))


def _compared(settings: Settings, bases: Bases, directory: Path, named: Sequence[str], scan: ScanPaths) -> Settings:
    """Return the settings without what the change narrows, and with what its target branch has widened meanwhile."""
    narrowed = dict.fromkeys(name for base in bases.left for name in narrowed_settings(settings, base.settings))
    for base in bases.left:
        settings = with_values_of(base.settings, settings, narrowed_settings(settings, base.settings))
    behind: tuple[str, ...] = ()
    if tip := bases.tip:
        behind = narrowed_settings(settings, tip.settings)
        settings = with_values_of(tip.settings, settings, behind)
    files = set[bytes]()
    for base in bases.left:
        files.update(_altered_files(base, directory, named, scan), _unscanned(base, directory, scan, settings))
    older = set(_altered_files(tip, directory, named, scan)) - files if tip else set[bytes]()
    altered = (*narrowed, *map(shown, sorted(files)), *(f"{shown(file)} ({OLDER})" for file in sorted(older)))
    notices = [f"{ALTERS}: {plain(listing(altered, NAMES_MAX))}; its base decides"] if altered else []
    notices += [f"{BEHIND}: {', '.join(behind)}"] if behind else []
    return settings.with_scope(ScopeNotes(altered, "; ".join(notices) or None))


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
