"""What the doctor finds fit, what it warns of, and what it fails."""

from dataclasses import replace

import pytest

from jarvis_workers.errors import StoreOutdated, StoreUnavailable, UsageError
from jarvis_workers.runs.health.c_reading import examine_c_reading
from jarvis_workers.runs.health.doctor import MachineFacts, examine, fit, free_memory, this_machine
from jarvis_workers.settings import Settings
from jarvis_workers.toolchain.cargo import find_rust

GOOD = MachineFacts(
    tools={"git": "/usr/bin/git", "cc": "/usr/bin/cc", "cargo": "/usr/bin/cargo", "dot": "/usr/bin/dot"},
    mounts="1 1 8:1 / / rw - ext4 /dev/sda rw",
    free_disk=10**11,
    free_memory=10**10,
    open_files=65536,
)
ON_NFS = replace(GOOD, mounts="1 1 8:1 / / rw - nfs4 server:/ rw")


def nothing_answers():
    raise StoreUnavailable("postgresql://db/jarvis does not answer")


def looked_at(settings, machine=GOOD, store=lambda: "sqlite", matcher=lambda: "hyperscan"):
    return examine(settings, machine, probe_store=store, probe_matcher=matcher)


def only(checks, state):
    return [check for check in checks if check.state == state]


@pytest.fixture
def settings(tmp_path):
    return Settings(data_dir=tmp_path)


def test_a_good_machine_is_fit_and_needs_nothing(settings):
    checks = looked_at(settings)

    assert {check.state for check in checks} == {"ok"}
    assert not any(check.remedy for check in checks)
    assert fit(checks)


@pytest.mark.parametrize(
    ("machine", "name", "remedy"),
    [
        (replace(GOOD, tools={**GOOD.tools, "cargo": None}), "cargo", "install cargo to build Rust code"),
        (replace(GOOD, tools={**GOOD.tools, "dot": None}), "dot", "install dot (graphviz) to draw call graphs"),
        (replace(GOOD, free_disk=10**8), "disk", "free some space"),
        (replace(GOOD, free_memory=10**8), "memory", "JARVIS_PROCESSES"),
        (replace(GOOD, open_files=256), "open files", "ulimit -n"),
        (replace(GOOD, file_bytes=10**6), "file size", "ulimit -f unlimited"),
    ],
)
def test_what_is_scarce_is_a_warning_with_a_remedy(settings, machine, name, remedy):
    checks = looked_at(settings, machine)
    (warning,) = only(checks, "warn")

    assert warning.name == name
    assert remedy in warning.remedy
    assert fit(checks)


def test_a_slow_matching_engine_is_a_warning(settings):
    (warning,) = only(looked_at(settings, matcher=lambda: "re"), "warn")

    assert "pip install hyperscan" in warning.remedy


def test_what_is_not_known_is_not_held_against_the_machine(settings):
    assert fit(looked_at(settings, replace(GOOD, free_disk=None, free_memory=None)))


def test_a_store_that_does_not_answer_is_a_failure(settings):
    checks = looked_at(settings, store=nothing_answers)
    (failure,) = only(checks, "fail")

    assert failure.says == "postgresql://db/jarvis does not answer"
    assert "JARVIS_STORE_URL" in failure.remedy
    assert not fit(checks)


def test_a_store_that_is_not_migrated_is_a_failure_that_says_how(settings):
    def outdated():
        raise StoreOutdated("postgresql://db/jarvis: the store's schema is missing; run: jarvis admin migrate")

    (failure,) = only(looked_at(settings, store=outdated), "fail")

    assert failure.remedy.startswith("jarvis admin migrate")


def test_a_file_store_on_a_network_file_system_is_a_failure(settings):
    (failure,) = only(looked_at(settings, ON_NFS), "fail")

    assert "is on nfs4" in failure.says
    assert "JARVIS_STORE_URL" in failure.remedy


def test_a_network_file_system_is_well_where_the_store_is_elsewhere(settings):
    elsewhere = settings.model_copy(update={"store_url": "postgresql://db/jarvis"})

    assert fit(looked_at(elsewhere, ON_NFS))


@pytest.mark.parametrize(
    ("release", "state"),
    [
        ((3, 11, 2, "final"), "ok"),
        ((3, 13, 0, "final"), "ok"),
        ((3, 13, 0, "candidate"), "warn"),
        ((3, 15, 0, "final"), "warn"),
    ],
)
def test_a_python_release_that_is_not_tested_is_a_warning(settings, release, state):
    check = looked_at(settings, replace(GOOD, python=release))[0]

    assert (check.name, check.state) == ("python", state)
    assert check.says.startswith(".".join(map(str, release[:3])))


def test_a_data_directory_that_cannot_be_written_is_a_failure(tmp_path):
    (tmp_path / "file").touch()
    settings = Settings(data_dir=tmp_path / "file" / "data")
    (failure,) = only(looked_at(settings), "fail")

    assert failure.name == "data directory"
    assert "JARVIS_DATA_DIR" in failure.remedy


@pytest.mark.parametrize(("mode", "state"), [(0o755, "warn"), (0o750, "warn"), (0o700, "ok")])
def test_a_data_directory_that_others_may_enter_is_a_warning(tmp_path, mode, state):
    (tmp_path / "data").mkdir()
    (tmp_path / "data").chmod(mode)
    check = next(one for one in looked_at(Settings(data_dir=tmp_path / "data")) if one.name == "data directory")

    assert check.state == state
    assert ("chmod 700" in check.remedy) == (state == "warn")


def test_a_data_directory_that_is_not_there_yet_will_be_made(tmp_path):
    checks = looked_at(Settings(data_dir=tmp_path / "new" / "data"))

    assert "will be created" in next(check.says for check in checks if check.name == "data directory")
    assert not (tmp_path / "new").exists()


def test_this_machine_is_known(tmp_path):
    machine = this_machine(tmp_path / "new")

    assert set(machine.tools) == {"git", "cc", "cargo", "dot"}
    assert machine.free_disk > 0


def test_free_memory_is_read_from_the_kernels_table():
    assert free_memory("MemTotal: 9 kB\nMemFree: 2 kB\nMemAvailable: 5 kB\n") == 5 * 1024
    assert free_memory("MemFree: 2 kB\n") == 2 * 1024
    assert free_memory("") is None


def test_libclang_and_its_headers_are_found(settings):
    library, headers, _ = examine_c_reading(settings)

    assert (library.name, library.state, library.says) == ("libclang", "ok", "18.1.1")
    assert headers.state == "ok" and headers.says.endswith("/lib/clang/18/include")


def test_what_reading_c_lacks_is_a_warning_that_says_how_to_get_it(settings, tmp_path):
    def load():
        raise UsageError("reading C needs libclang, which is not installed")

    settings = Settings(data_dir=tmp_path, c2rust={"clang_headers": str(tmp_path)})
    library, headers, _ = examine_c_reading(settings, load)

    assert (library.state, headers.state) == ("warn", "warn")
    assert "pip install" in library.remedy and "libclang" in library.remedy
    assert "c2rust.clang_headers: no stddef.h in" in headers.says


def test_an_old_tool_chain_of_rust_is_a_warning_that_says_how_to_get_another(settings, tmp_path, monkeypatch):
    for name, script in (("rustc", f'[ "$1" = --print ] && echo {tmp_path} || echo rustc 1.63.0'), ("cargo", "")):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    find_rust.cache_clear()
    *_, rust = examine_c_reading(settings)
    find_rust.cache_clear()

    assert rust.state == "warn"
    assert "version 1.63 is too old; install Rust 1.77 or newer: https://rustup.rs" in rust.says
