"""Draw graphs with `dot` of graphviz, an optional program, within limits on time, memory and size.

Large graphs can occupy `dot` for hours, so it runs as a child with kernel resource limits and is killed at its time
limit.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import IO, Literal

from jarvis_workers.errors import GivenUp
from jarvis_workers.toolchain.children import child_environment

Form = Literal["png", "svg"]

PROGRAM = "dot"
SECONDS = 60.0
MEGABYTE = 1_000_000
ADDRESS_SPACE_MB = 2_000
PICTURE_MB = 200
MESSAGE_MAX = 200
# A shell sets the limits between fork and exec, so that they apply from the first instruction of `dot`. A limit that
# cannot be set, such as on address space on macOS, is left unchanged. Units: KB, blocks of 512 bytes, seconds.
LIMITED = """ulimit -v "$1" 2>/dev/null; ulimit -f "$2" 2>/dev/null; ulimit -t "$3" 2>/dev/null; ulimit -c 0; shift 3
exec "$@"
"""


def find_dot() -> str | None:
    """Return the path of `dot`, or None if graphviz is not installed."""
    return shutil.which(PROGRAM)


def draw(program: str, source: Path, picture: Path, form: Form, seconds: float = SECONDS) -> None:
    """Draw a DOT file; the picture is written completely or not at all.

    Raises GivenUp with a one-line message if `dot` fails or exceeds a limit.
    """
    with tempfile.TemporaryDirectory(dir=picture.parent, prefix=".dot-") as folder, tempfile.TemporaryFile() as errors:
        drawn = Path(folder, picture.name)
        command = [program, f"-T{form}", "-o", str(drawn), str(source.absolute())]
        code = _run(command, errors, seconds)
        if code or not drawn.exists():
            raise GivenUp(f"dot failed on {source.name}: {_reason(code, errors)}")
        drawn.replace(picture)


def _run(command: list[str], errors: IO[bytes], seconds: float) -> int:
    if shutil.which(command[0]) is None:
        raise GivenUp(f"{command[0]} cannot be started: no such program")
    process = subprocess.Popen(
        ["/bin/sh", "-c", LIMITED, "sh", *_limits(seconds), *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env=child_environment(os.environ),
        start_new_session=True,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired as error:
        raise GivenUp(f"dot took longer than {seconds:g} s for {Path(command[-1]).name}") from error
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _limits(seconds: float) -> list[str]:
    numbers = ADDRESS_SPACE_MB * MEGABYTE // 1024, PICTURE_MB * MEGABYTE // 512, int(seconds) + 1
    return [str(number) for number in numbers]


def _reason(code: int, errors: IO[bytes]) -> str:
    errors.seek(0)
    message = errors.read(MESSAGE_MAX).decode(errors="replace").strip().partition("\n")[0]
    how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return f"{how}, {message}" if message else how
