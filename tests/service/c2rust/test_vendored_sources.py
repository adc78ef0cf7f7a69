"""The crates of a run, read from a directory of `cargo vendor`."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_workers.bench.crate_archive import crates_of
from jarvis_workers.c2rust.library_plan import LibraryPlan
from jarvis_workers.c2rust.library_replacement import LibraryChoice
from jarvis_workers.errors import UsageError
from jarvis_workers.service.c2rust.fast_run import FastChoice, LibraryPart, ModelChoice, usable_crates
from jarvis_workers.service.c2rust.vendored_sources import allowed_crates, pack_crates
from jarvis_workers.settings import Settings
from jarvis_workers.settings.schema import C2RustSettings
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
        pack_crates(settings(tmp_path, **more), ["tiny-mix"])
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_chosen_crates_are_packed_with_their_dependencies(tmp_path: Path, vendor: Path) -> None:
    content = pack_crates(settings(tmp_path), ["TINY_MIX", "std", "absent"])

    assert {one.name for one in crates_of(content).crates} == {"tiny-mix", "step"}
    assert crates_of(content).files == {**MIX, **STEP}
    os.utime(vendor / "step" / "src" / "lib.rs", (0, 0))
    assert pack_crates(settings(tmp_path), ["tiny-mix"]) == content
    assert pack_crates(settings(tmp_path), ["std"]) == b""


def test_without_a_vendor_directory_there_are_no_crates(tmp_path: Path) -> None:
    assert pack_crates(settings(tmp_path, vendor=None), ["tiny-mix"]) == b""


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
    assert pack_crates(settings(tmp_path, vendor_mb=2), ["tiny-mix"])


def test_disabled_crates_are_not_used_in_any_case(tmp_path: Path) -> None:
    given = settings(tmp_path, allowed_crates=["tiny-mix", "step", "std"])
    assert allowed_crates(given, ["Tiny_MIX"], "other") == ("other", "step")


def test_a_run_has_the_crates_of_its_plan_or_those_that_it_may_choose(tmp_path: Path) -> None:
    given = settings(tmp_path, allowed_crates=["tiny-mix", "step"])
    plan = LibraryPlan(replaced={"mix": LibraryChoice(libraries=("other", "std"))}).model_dump_json().encode()
    part = LibraryPart(disabled=("STEP",))
    choice = FastChoice(model=ModelChoice())

    assert set(usable_crates(given, choice, plan)) == {"other", "std"}
    assert set(usable_crates(given, replace(choice, libraries=part), b"")) == {"tiny-mix"}
    without = replace(choice, libraries=replace(part, skipped_stages=("replace", "prune")))
    assert not usable_crates(given, without, b"")
    assert not usable_crates(given, choice, b"")
    assert not usable_crates(given, replace(choice, forward=True), plan)
    assert not usable_crates(given, FastChoice(), plan)
