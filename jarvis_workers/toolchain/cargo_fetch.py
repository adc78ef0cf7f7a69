"""Fetch crates from the registry with `cargo vendor`, which downloads and unpacks them but builds nothing.

Cargo runs in a temporary directory: it would obey a configuration file in the project, which may name programs.
"""

import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.toolchain.cargo import RustTools, error_line
from jarvis_workers.toolchain.children import child_environment
from jarvis_workers.toolchain.scratch import size_of

PASSED_VARIABLES = "RUSTUP_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR"
PASSED_PREFIX = "CARGO_"
PROXIES = frozenset(("http_proxy", "https_proxy", "all_proxy", "no_proxy"))
MEGABYTE, OUTPUT_BYTES = 1_000_000, 100_000
MANIFEST = '[package]\nname = "fetched"\nversion = "0.0.0"\nedition = "2021"\nrust-version = "{}.{}"\n\n[workspace]\n'
# The crate that cargo did not find, or could not fetch.
CRATE = re.compile(r"(?:no matching package(?:s)? named|failed to (?:get|download|select a version for)) `([\w-]+)")
UNKNOWN = re.compile(r"no matching package")


def fetch_crates(names: Sequence[str], into: Path, rust: RustTools, *, seconds: float, megabytes: float) -> None:
    """Vendor the newest versions of crates, with what they depend on, into the new directory `into`/vendor.

    Raises UsageError, which names the crate, if one does not exist, the registry cannot be reached, or a limit is
    exceeded.
    """
    (into / "src").mkdir()
    (into / "src" / "lib.rs").touch()
    lines = "".join(f'{name} = "*"\n' for name in names)
    (into / "Cargo.toml").write_text(f"{MANIFEST.format(*rust.version)}\n[dependencies]\n{lines}")
    listed = ", ".join(names)
    with (into / "output").open("w+b") as output:
        try:
            code = _run(
                [str(rust.cargo), "vendor", "--color", "never", "vendor"], into, _environment(rust), output, seconds
            )
        except subprocess.TimeoutExpired as error:
            text = f"--fetch-crates: {listed}: not fetched in {seconds:g} s; raise c2rust.fetch_seconds"
            raise UsageError(text) from error
        output.seek(0)
        text = output.read(OUTPUT_BYTES).decode(errors="replace")
    if code != 0:
        raise UsageError(f"--fetch-crates: {_failure(text, listed)}")
    if size_of(str(into / "vendor"), int(megabytes * MEGABYTE)) > megabytes * MEGABYTE:
        limit = f"more than {megabytes:g} MB with their dependencies; raise c2rust.vendor_mb"
        raise UsageError(f"--fetch-crates: {listed}: {limit}")


def _run(command: Sequence[str], place: Path, environment: Mapping[str, str], output: IO[bytes], seconds: float) -> int:
    """Run a command; return its exit code. Raises TimeoutExpired, after which none of its processes runs."""
    process = subprocess.Popen(
        command,
        cwd=place,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _environment(rust: RustTools) -> dict[str, str]:
    chosen = {
        name: value
        for name, value in os.environ.items()
        if name in PASSED_VARIABLES or name.startswith(PASSED_PREFIX) or name.lower() in PROXIES
    }
    path = f"{rust.root / 'bin'}:{os.environ.get('PATH', '')}"
    # Versions that this toolchain can build; cargo 1.84 and newer.
    resolver = {"CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS": "fallback"}
    return {**child_environment(os.environ), **chosen, **resolver, "PATH": path}


def _failure(text: str, listed: str) -> str:
    crate = CRATE.search(text)
    reason = (
        "the registry has no such crate" if UNKNOWN.search(text) else error_line(text.encode()) or "cargo vendor failed"
    )
    return plain(f"{crate[1] if crate else listed}: {reason}")
