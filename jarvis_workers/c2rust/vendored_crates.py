"""Crates as `cargo vendor` writes them, and crates of ours that depend on them and build offline.

Their manifests are untrusted.  A crate of ours depends only on the vendored crates that its code names.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from jarvis_workers.c2rust.library_replacement import CRATE, STANDARD, canonical
from jarvis_workers.source.rust.rust_syntax import masked

MANIFEST, CHECKSUM, LOCK_FILE = "Cargo.toml", ".cargo-checksum.json", "Cargo.lock"
VENDOR, CONFIG = "vendor", ".cargo/config.toml"
# As cargo vendor recommends; the directory is relative to that of the crate.
SOURCES = '[source.crates-io]\nreplace-with = "vendored-sources"\n\n[source.vendored-sources]\ndirectory = "vendor"\n'
VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[\w.-]{1,64})?(?:\+[\w.-]{1,64})?", re.ASCII)
IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,63}", re.ASCII)
# Paths that begin with these are not paths of other crates.
OWN_ROOTS = frozenset((*STANDARD, "crate", "self", "super", "Self", "proc-macro", "proc_macro", "test"))
TABLES = "dependencies", "build-dependencies"
# The name of a `use` declaration, or the first name of a path.
PATH_ROOT = re.compile(r"\buse\s++(?:::\s*+)?([A-Za-z_]\w*+)\s*+;|(?<!\w)(?<!::)(?:::\s*+)?([A-Za-z_]\w*+)(?=\s*+::)")


class VendoredCrate(NamedTuple):
    """A crate in a directory of its own, the name by which code refers to it, and the packages that it depends on."""

    directory: str
    name: str
    version: str
    identifier: str
    needs: frozenset[str]

    @property
    def order(self) -> tuple[bool, list[int]]:
        """The position among versions: pre-releases come before releases."""
        numbers = VERSION.fullmatch(self.version)
        return "-" not in self.version, [int(one) for one in numbers.groups()[:3]] if numbers else []


def read_crate_manifest(directory: str, content: bytes) -> VendoredCrate:
    """Return the crate with a manifest. Raises ValueError with one line if it is not one of cargo vendor."""
    try:
        manifest = tomllib.loads(content.decode())
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    package, library = _table(manifest, "package"), _table(manifest, "lib")
    name, version = str(package.get("name")), str(package.get("version"))
    if not CRATE.fullmatch(name) or not VERSION.fullmatch(version):
        raise ValueError("it has no valid name and version")
    identifier = str(library.get("name") or name.replace("-", "_"))
    if not IDENTIFIER.fullmatch(identifier) or {canonical(name), identifier} & OWN_ROOTS:
        raise ValueError("its name, or that of its library, is reserved or not valid")
    targets = [one for one in _table(manifest, "target").values() if isinstance(one, dict)]
    tables = [_table(one, table) for one in (manifest, *targets) for table in TABLES]
    needs = frozenset(_package(key, value) for table in tables for key, value in table.items())
    return VendoredCrate(directory, name, version, identifier, needs)


def _table(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _package(key: str, value: object) -> str:
    return str(value.get("package", key)) if isinstance(value, dict) else key


@dataclass(frozen=True)
class VendoredCrates:
    """Crates with their files, whose names begin with the directory of the crate."""

    crates: tuple[VendoredCrate, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)

    def find(self, name: str) -> VendoredCrate | None:
        """Return the newest version of a crate; case, `-` and `_` do not matter."""
        found = [one for one in self.crates if canonical(one.name) == canonical(name)]
        return max(found, key=lambda one: one.order, default=None)

    def missing(self, names: Iterable[str]) -> list[str]:
        """Return the names of crates that are neither here nor part of the compiler."""
        return [name for name in names if canonical(name) not in STANDARD and not self.find(name)]

    def with_needs(self, crates: Iterable[VendoredCrate]) -> list[VendoredCrate]:
        """Return crates and all versions of what they depend on, as far as it is here: not all of it is optional."""
        found, waiting = dict[str, VendoredCrate](), list(crates)
        while waiting:
            one = waiting.pop()
            if one.directory not in found:
                found[one.directory] = one
                waiting += (other for other in self.crates if other.name in one.needs)
        return [found[directory] for directory in sorted(found)]

    def foreign(self, libraries: Collection[str]) -> frozenset[str]:
        """Return the identifiers of the crates that are not among the libraries of a function."""
        own = {canonical(name) for name in libraries}
        return frozenset(one.identifier for one in self.crates if canonical(one.name) not in own)

    def used_in(self, texts: Iterable[str]) -> list[VendoredCrate]:
        """Return the crates that Rust code names."""
        if not self.crates:
            return []
        some = re.compile(rf"\b(?:{'|'.join(one.identifier for one in self.crates)})\b")
        names = {name for text in texts if some.search(text) for name in path_roots(masked(text))}
        newest = {one.name: found for one in self.crates if (found := self.find(one.name))}
        return [one for _, one in sorted(newest.items()) if one.identifier in names]

    def complete(self, crate: Mapping[str, str | bytes]) -> dict[str, str | bytes] | None:
        """Return the files of a crate with the vendored crates that it uses, None if it needs no more files."""
        # Programs name only their library.
        sources = (text for name, text in crate.items() if re.match(r"src/(?!bin/).*\.rs\Z", name))
        used = self.used_in(text.decode() if isinstance(text, bytes) else text for text in sources)
        if not used or CONFIG in crate:
            return None
        manifest = crate[MANIFEST]
        text = manifest.decode() if isinstance(manifest, bytes) else manifest
        text += "\n[dependencies]\n" + "".join(f'{one.name} = "{one.version.partition("+")[0]}"\n' for one in used)
        directories = {one.directory for one in self.with_needs(used)}
        vendored = {
            f"{VENDOR}/{name}": one for name, one in self.files.items() if name.partition("/")[0] in directories
        }
        return {**crate, MANIFEST: text, CONFIG: SOURCES, **vendored}


def path_roots(code: str) -> Iterator[str]:
    """Yield the first names of paths in code without comments and literals."""
    return (match[1] or match[2] for match in PATH_ROOT.finditer(code))


def read_vendored(files: Mapping[str, bytes]) -> VendoredCrates:
    """Return the crates of a directory as `cargo vendor` writes it. Raises ValueError, which names the wrong crate."""
    found = list[VendoredCrate]()
    for name, content in sorted(files.items()):
        directory, _, rest = name.partition("/")
        if rest == MANIFEST:
            try:
                found.append(read_crate_manifest(directory, content))
            except ValueError as error:
                raise ValueError(f"{directory}: {MANIFEST}: {error}") from error
    return VendoredCrates(tuple(found), files)
