"""Vendored crates: their untrusted manifests, and crates of ours that depend on those that their code names."""

import tomllib
from pathlib import Path

import pytest

from jarvis_workers.c2rust.bench.crate_archive import dependencies_in
from jarvis_workers.c2rust.vendored_crates import (
    CONFIG,
    LOCK_FILE,
    MANIFEST,
    VendoredCrates,
    path_roots,
    read_crate_manifest,
    read_vendored,
)
from tests.c2rust.vendors import crate_files, write_vendor

TARGETS = """zeta = "1"
renamed = { package = "eta", version = "2" }
[build-dependencies]
theta = "1"
[dev-dependencies]
iota = "1"
[target.'cfg(windows)'.dependencies]
kappa = "1"
[lib]
name = "other"
"""
OURS = {MANIFEST: '[package]\nname = "bench"\n\n[workspace]\n', LOCK_FILE: "", "src/lib.rs": "mod f_mix;"}


def vendored(*crates: dict[str, bytes]) -> VendoredCrates:
    return read_vendored({path: content for crate in crates for path, content in crate.items()})


def of_body(text: str) -> dict[str, str | bytes]:
    return {**OURS, "src/f_mix.rs": text}


def test_a_manifest_names_the_library_and_all_that_a_build_needs() -> None:
    found = read_crate_manifest("x", crate_files("tiny-mix", dependencies=TARGETS)["tiny-mix/Cargo.toml"])

    assert (found.name, found.version, found.identifier) == ("tiny-mix", "1.2.0", "other")
    assert found.needs == {"zeta", "eta", "theta", "kappa"}


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        (b"", "no valid name and version"),
        (b'package = "x"', "no valid name and version"),
        (b'[package]\nname = "../x"\nversion = "1.0.0"', "no valid name and version"),
        (b'[package]\nname = "x"\nversion = "1\\n[dependencies]"', "no valid name and version"),
        (b'[package]\nname = "x"\nversion = "1.0.0"\n[lib]\nname = "a b"', "reserved or not valid"),
        (b'[package]\nname = "x"\nversion = "1.0.0"\n[lib]\nname = "core"', "reserved or not valid"),
        (b'[package]\nname = "Std"\nversion = "1.0.0"', "reserved or not valid"),
        (b"\xff", "can't decode"),
        (b"a = " + b"[" * 100_000, "nested too deeply"),
        (b"[package", "Expected"),
    ],
)
def test_a_wrong_manifest_is_one_line(manifest: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=r"evil: Cargo\.toml: ") as caught:
        read_vendored({"evil/Cargo.toml": manifest})
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_newest_version_is_found_in_any_case() -> None:
    older = {path.replace("mix/", "mix-0.9.0/"): one for path, one in crate_files("mix", version="0.9.0").items()}
    newest = {path.replace("mix/", "mix-0.10.0/"): one for path, one in crate_files("mix", version="0.10.0").items()}
    beta = {path.replace("mix/", "mix-1/"): one for path, one in crate_files("mix", version="1.0.0-beta").items()}
    found = vendored(older, newest, beta, crate_files("Tiny_Mix"))

    assert [one.version for one in (found.find("MIX"), found.find("tiny-mix")) if one] == ["0.10.0", "1.2.0"]
    assert found.missing(["mix", "std", "CORE", "absent"]) == ["absent"]


def test_a_crate_depends_on_what_its_code_names_and_nothing_else() -> None:
    crates = vendored(
        crate_files("tiny-mix", dependencies='step = "1"\nabsent = "1"'),
        crate_files("step", version="1.0.1+build"),
        crate_files("other"),
    )
    body = of_body("fn f() -> u32 { tiny_mix::mix(1) } // other::f")
    found = crates.complete(body)

    assert found is not None
    manifest = found[MANIFEST]
    assert isinstance(manifest, str)
    assert tomllib.loads(manifest)["dependencies"] == {"tiny-mix": "1.2.0"}
    assert {name.split("/")[1] for name in found if name.startswith("vendor/")} == {"step", "tiny-mix"}
    assert found["src/f_mix.rs"] == body["src/f_mix.rs"]
    assert crates.complete(found) is None, "a crate that was completed stays as it is"
    assert CONFIG in found
    direct = crates.complete(of_body("fn f() { step::f() }"))
    assert direct is not None
    assert 'step = "1.0.1"\n' in str(direct[MANIFEST])


@pytest.mark.parametrize("text", ["fn f() { g(other) }", 'fn f() { "other::f" }', "// other::f\n", "use crate::other;"])
def test_a_crate_without_foreign_paths_has_no_dependencies(text: str) -> None:
    assert vendored(crate_files("other")).complete(of_body(text)) is None
    assert vendored(crate_files("other")).complete({**OURS, "src/bin/p.rs": "fn main() { other::f() }"}) is None
    assert VendoredCrates().complete(of_body("fn f() { other::f() }")) is None


@pytest.mark.parametrize(
    ("code", "roots"),
    [
        ("a::b::c(d::e)", ["a", "d"]),
        ("::a::b()", ["a"]),
        ("<a::T as b::T>::c()", ["a", "b"]),
        ("use a; use ::b; use c::{d, e};", ["a", "b", "c"]),
        ("a.b(c)", []),
        ("fn f(x:a::T) -> S { S{x:b::c(), y:: <d::T>()} }", ["a", "b", "y", "d"]),
    ],
)
def test_the_first_names_of_paths_are_found(code: str, roots: list[str]) -> None:
    assert list(path_roots(code)) == roots


def test_the_written_crate_has_the_files_of_its_dependencies(tmp_path: Path) -> None:
    files = vendored(crate_files("mix")).complete(of_body("fn f() { mix::f() }"))
    assert files is not None
    write_vendor(tmp_path, {name: one if isinstance(one, bytes) else one.encode() for name, one in files.items()})
    found = dependencies_in(tmp_path)
    assert set(found) == {name for name in files if not name.startswith("src/")}
    (tmp_path / CONFIG).unlink()
    assert dependencies_in(tmp_path) == {}


def test_crates_that_do_not_replace_a_function_are_foreign_to_it() -> None:
    assert vendored(crate_files("tiny-mix"), crate_files("step")).foreign(["TINY_MIX"]) == {"step"}
