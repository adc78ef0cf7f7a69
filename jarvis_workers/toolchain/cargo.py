"""Find cargo, and read its messages.

The toolchain's own cargo is called, not the proxy of rustup, which writes to the home directory.
"""

import functools
import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.toolchain.children import child_environment
from jarvis_workers.toolchain.scratch import size_of

OLDEST = (1, 77)
ADVICE = "install Rust 1.77 or newer: https://rustup.rs, or apt install rustc-web cargo-web on Debian 12"
MOST_SHOWN = 300
MOST_MESSAGES = 10_000
MESSAGE_LENGTH = 2_000
# The text of a last warning if there are more messages. The pattern is the notice of `bounded_output.Output`.
CUT = "further messages are not read"
NOTICE = re.compile(rb"^\[\.\.\. \d+ bytes cut \.\.\.\]$", re.MULTILINE)
MOST_ADVICE = 8
SECONDS = 60
PROGRAM = re.compile(r"`/[^`]*/([^`/]+)`")
# What GNU ld and lld say.
LINKER = re.compile(
    r"undefined reference to \S+|multiple definition of \S+|cannot find -l\S+"
    r"|(?:undefined|duplicate) symbol: \S+|unable to find library -l\S+"
)


class RustTools(NamedTuple):
    """A toolchain: its directory, whose `bin` holds cargo and rustc, and its version."""

    root: Path
    version: tuple[int, int]

    @property
    def cargo(self) -> Path:
        return self.root / "bin" / "cargo"


class CargoMessage(NamedTuple):
    """An error or warning of rustc; `file` is relative to the crate, "" without a place; lines and columns
    count from 1.  `label` is the text at that place, `help` has the lines of help and notes.
    """

    level: str
    code: str
    text: str
    file: str = ""
    line: int = 0
    column: int = 0
    label: str = ""
    help: tuple[str, ...] = ()


@functools.cache
def find_rust() -> RustTools:
    """Return the toolchain that this process would use. Raises UsageError if there is none, or if it is too old."""
    rustc = shutil.which("rustc")
    if rustc is None:
        raise UsageError(f"rustc is not installed; {ADVICE}")
    root, version = (_ask(rustc, *words) for words in (("--print", "sysroot"), ("--version",)))
    match = re.match(r"rustc (\d+)\.(\d+)", version)
    found = (int(match[1]), int(match[2])) if match else (0, 0)
    tools = RustTools(Path(root.strip()), found)
    if not tools.cargo.is_file():
        raise UsageError(f"{tools.cargo}: not installed; {ADVICE}")
    if found < OLDEST:
        raise UsageError(f"{rustc}: version {found[0]}.{found[1]} is too old; {ADVICE}")
    return tools


def _ask(program: str, *words: str) -> str:
    try:
        done = subprocess.run(
            [program, *words], capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL, check=True
        )
    except subprocess.CalledProcessError as error:
        # A proxy of rustup, for one, says that it has no toolchain.
        shown = plain(error.stderr.strip().partition("\n")[0])[:MOST_SHOWN]
        raise UsageError(f"{program}: {shown or f'ends with exit code {error.returncode}'}; {ADVICE}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"{program}: cannot be started; {ADVICE}") from error
    return done.stdout


def read_messages(output: bytes) -> Iterator[CargoMessage]:
    """Yield the errors and warnings in the output of `cargo --message-format=json`; the last line may be cut.

    If messages are missing, a last warning has the text CUT.
    """
    lines = output.splitlines()
    for line in lines[:MOST_MESSAGES]:
        try:
            message = json.loads(line)["message"]
            level, text, code = message["level"], message["message"], (message["code"] or {}).get("code", "")
            spans = [_outside_macros(span) for span in message["spans"] if span["is_primary"]]
            places = [(span["file_name"], span["line_start"], span["column_start"]) for span in spans]
            labels = [str(span["label"])[:MESSAGE_LENGTH] for span in spans if span.get("label")]
            advice = tuple(_advice(child) for child in message.get("children", [])[:MOST_ADVICE])
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
        if level in ("error", "warning"):
            if found := None if spans else LINKER.search(str(message.get("rendered"))):
                text = f"{text}: {found[0]}"
            file, row, column = places[0] if places else ("", 0, 0)
            label = labels[0] if labels else ""
            yield CargoMessage(level, code, text[:MESSAGE_LENGTH], file, row, column, label, advice)
    if len(lines) > MOST_MESSAGES or NOTICE.search(output):
        yield CargoMessage("warning", "", CUT)


def error_line(output: bytes) -> str:
    """Return the first error in cargo's own words with its innermost cause, on one line; "" if there is none.

    Of programs, only the name is shown.
    """
    lines = [line for line in output.decode(errors="backslashreplace").splitlines() if not line.startswith("{")]
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    causes = [line.strip() for before, line in pairwise(lines) if before.startswith("Caused by:")]
    return PROGRAM.sub(r"`\1`", ": ".join([*errors[:1], *causes[-1:]]))[:MESSAGE_LENGTH]


def _advice(child: Any) -> str:
    """Return a help or note of rustc with its suggestion, on one line."""
    suggestions = [span["suggested_replacement"] for span in child["spans"] if span.get("suggested_replacement")]
    text = f"{child['level']}: {child['message']}" + "".join(f": `{one}`" for one in suggestions[:1])
    return " ".join(text.split())[:MESSAGE_LENGTH]


def _outside_macros(span: Any) -> Any:
    """Return the place in the crate of a span in a macro of the standard library."""
    while span["file_name"].startswith("/") and (expansion := span.get("expansion")):
        span = expansion["span"]
    return span


# Fetch crates from the registry with `cargo vendor`, which downloads and unpacks them but builds nothing.

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
