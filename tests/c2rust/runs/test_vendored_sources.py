"""The crates of a run: read from a directory of `cargo vendor`, or fetched by a cargo that a script stands for."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.c2rust.bench.crate_archive import crates_of
from jarvis_workers.c2rust.library_plan import LibraryPlan
from jarvis_workers.c2rust.library_replacement import LibraryChoice
from jarvis_workers.c2rust.runs.conversion_request import ConversionRequest
from jarvis_workers.c2rust.runs.fast_run import usable_crates
from jarvis_workers.c2rust.runs.vendored_sources import allowed_crates, fetch_allowed, pack_crates
from jarvis_workers.c2rust.stages.options import FastOptions, MoveOptions, PrepareOptions, TranslateOptions
from jarvis_workers.errors import UsageError
from jarvis_workers.settings import Settings
from jarvis_workers.settings.schema import C2RustSettings
from jarvis_workers.toolchain.cargo import RustTools, fetch_crates
from tests.c2rust.vendors import crate_files, write_vendor

MIX = crate_files("tiny-mix", dependencies='step = "1"')
STEP, OTHER = crate_files("step"), crate_files("other", "x" * 2_000_000)


@pytest.fixture
def vendor(tmp_path: Path) -> Path:
    place = write_vendor(tmp_path / "vendor", MIX, STEP, OTHER)
    (place / "README").touch()
    (place / ".git").mkdir()
    return place


def settings(tmp_path: Path, **more: object) -> Settings:
    given: dict[str, object] = {"vendor": str(tmp_path / "vendor"), "vendor_mb": 1, **more}
    return Settings(data_dir=tmp_path / "data", c2rust=C2RustSettings.model_validate(given))


def refusal(tmp_path: Path, **more: object) -> str:
    with pytest.raises(UsageError) as caught:
        pack_crates(settings(tmp_path, **more), tmp_path, ["tiny-mix"])
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_chosen_crates_are_packed_with_their_dependencies(tmp_path: Path, vendor: Path) -> None:
    content = pack_crates(settings(tmp_path), tmp_path, ["TINY_MIX", "std", "absent"])

    assert {one.name for one in crates_of(content).crates} == {"tiny-mix", "step"}
    assert crates_of(content).files == {**MIX, **STEP}
    os.utime(vendor / "step" / "src" / "lib.rs", (0, 0))
    assert pack_crates(settings(tmp_path), tmp_path, ["tiny-mix"]) == content
    assert pack_crates(settings(tmp_path), tmp_path, ["std"]) == b""


def test_without_a_vendor_directory_there_are_no_crates(tmp_path: Path) -> None:
    assert pack_crates(settings(tmp_path, vendor=None), tmp_path, ["tiny-mix"]) == b""


def test_a_directory_that_cargo_vendor_did_not_write_is_one_line(tmp_path: Path, vendor: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert refusal(tmp_path, vendor=str(file)).endswith(
        "file: not a directory; cargo vendor writes one directory per crate"
    )
    (vendor / "empty").mkdir()
    assert "vendor/empty: it has no Cargo.toml; " in refusal(tmp_path)
    (vendor / "empty" / "Cargo.toml").write_text("[package]")
    assert "vendor/empty: it has no .cargo-checksum.json; " in refusal(tmp_path)
    (vendor / "empty" / ".cargo-checksum.json").write_text("{}")
    assert "vendor/empty: Cargo.toml: it has no valid name and version" in refusal(tmp_path)
    (vendor / "empty" / "Cargo.toml").write_bytes(b"#" * 1_000_001)
    assert "vendor/empty: Cargo.toml is larger than 1,000,000 bytes" in refusal(tmp_path)


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path, vendor: Path) -> None:
    (vendor / "step" / "src" / "a\udcff.rs").touch()
    assert refusal(tmp_path).endswith("vendor/step/src/a\\xff.rs: its name is not UTF-8")


def test_links_out_of_the_directory_are_refused(tmp_path: Path, vendor: Path) -> None:
    link = vendor / "step" / "src" / "secret.rs"
    link.symlink_to("/etc/passwd")
    assert "secret.rs: neither a file nor a directory" in refusal(tmp_path)
    link.unlink()
    (vendor / "step" / "deep").symlink_to("/etc")
    assert "step/deep: neither a file nor a directory" in refusal(tmp_path)
    (vendor / "linked").symlink_to(vendor / "step")
    assert "vendor/linked: a symbolic link" in refusal(tmp_path)
    (vendor / "linked").unlink()
    (vendor / "other" / "Cargo.toml").unlink()
    (vendor / "other" / "Cargo.toml").symlink_to("/etc/passwd")
    assert "vendor/other: it has no Cargo.toml" in refusal(tmp_path)


def test_only_the_crates_to_use_are_limited(tmp_path: Path, vendor: Path) -> None:
    (vendor / "step" / "data").write_bytes(bytes(1_100_000))
    message = refusal(tmp_path)
    assert "the crates to use have more than 1 MB or 50,000 files; raise c2rust.vendor_mb" in message
    assert pack_crates(settings(tmp_path, vendor_mb=2), tmp_path, ["tiny-mix"])


def test_disabled_crates_are_not_used_in_any_case(tmp_path: Path) -> None:
    given = settings(tmp_path, allowed_crates=["tiny-mix", "step", "std"])
    assert allowed_crates(given, ["Tiny_MIX"], "other") == ("other", "step")


def test_a_run_has_the_crates_of_its_plan_or_those_that_it_may_choose(tmp_path: Path) -> None:
    given = settings(tmp_path, allowed_crates=["tiny-mix", "step"])
    plan = LibraryPlan(replaced={"mix": LibraryChoice(libraries=("other", "std"))}).model_dump_json().encode()
    translation = ConversionRequest(options=TranslateOptions())
    move = ConversionRequest(options=MoveOptions(disabled=["STEP"]))

    assert set(usable_crates(given, translation, plan)) == {"other", "std"}
    assert set(usable_crates(given, move, b"")) == {"tiny-mix"}
    assert not usable_crates(given, replace(move, skipped_stages=("replace", "prune")), b"")
    assert not usable_crates(given, translation, b"")
    assert not usable_crates(given, ConversionRequest(options=PrepareOptions(forward=True)), plan)
    assert not usable_crates(given, ConversionRequest(options=FastOptions()), plan)


@pytest.mark.parametrize(
    ("vendor", "names", "reason"),
    [
        ("vendor", ("step",), "--fetch-crates and c2rust.vendor exclude each other"),
        (None, (), "no crate is allowed; set c2rust.allowed_crates"),
        (None, ('a = "1"\n[x]',), "is not the name of a crate"),
        (None, ("step",), "cargo would obey its configuration; set data_dir"),
    ],
)
def test_what_cannot_be_fetched_is_one_line(
    tmp_path: Path, vendor: str | None, names: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(UsageError, match=reason.replace("[", r"\[")) as caught:
        fetch_allowed(settings(tmp_path, vendor=vendor), names, tmp_path)
    assert "\n" not in str(caught.value)


def rust(tmp_path: Path, script: str) -> RustTools:
    """Return a toolchain whose cargo is a script."""
    cargo = tmp_path / "rust" / "bin" / "cargo"
    cargo.parent.mkdir(parents=True)
    cargo.write_text(f"#!/bin/sh\n{script}\n")
    cargo.chmod(0o755)
    return RustTools(tmp_path / "rust", (1, 80))


def fetch(tmp_path: Path, script: str, seconds: float = 60) -> Path:
    into = tmp_path / "into"
    into.mkdir()
    fetch_crates(["step", "other"], into, rust(tmp_path, script), seconds=seconds, megabytes=0.1)
    return into


def test_cargo_is_asked_to_vendor_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSTC_WRAPPER", "/evil")
    into = fetch(tmp_path, 'mkdir vendor; echo "$@" > vendor/words; env > vendor/env')

    assert (into / "vendor" / "words").read_text() == "vendor --color never vendor\n"
    assert '[dependencies]\nstep = "*"\nother = "*"\n' in (into / "Cargo.toml").read_text()
    environment = (into / "vendor" / "env").read_text()
    assert "CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS=fallback" in environment
    assert "RUSTC_WRAPPER" not in environment


UNKNOWN = "error: failed to sync\n\nCaused by:\n  no matching package named `step` found\n  location searched: x\n"
OFFLINE = "error: failed to sync\n\nCaused by:\n  failed to get `other` as\n\nCaused by:\n  [6] Could not resolve"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (f"mkdir vendor; cat <<'EOF'\n{UNKNOWN}EOF\nexit 101", "step: the registry has no such crate"),
        (f"mkdir vendor; cat <<'EOF'\n{OFFLINE}\nEOF\nexit 101", "other: failed to sync: [6] Could not resolve"),
        ("exit 1", "step, other: cargo vendor failed"),
        ("mkdir vendor; head -c 200000 /dev/zero > vendor/a", "more than 0.1 MB with their dependencies"),
    ],
)
def test_a_failed_fetch_names_the_crate(tmp_path: Path, script: str, reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        fetch(tmp_path, script)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_fetch_ends_at_its_limit_of_time(tmp_path: Path) -> None:
    start = time.monotonic()
    with pytest.raises(UsageError, match=r"step, other: not fetched in 0.1 s; raise c2rust.fetch_seconds"):
        fetch(tmp_path, "sleep 60", seconds=0.1)
    assert time.monotonic() - start < 30
