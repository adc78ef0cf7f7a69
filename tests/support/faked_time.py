"""A clock that a test sets, for processes under libfaketime; their monotonic clock is true."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.servers import missing

# After a step back, libfaketime 0.9 takes the absolute time that `time.sleep` hands to clock_nanosleep as invalid.
SLEEP = "import select, time\ntime.sleep = lambda seconds: select.select([], [], [], seconds) and None\n"


class SettableClock:
    """The wall clock of all processes that start with `environ`."""

    def __init__(self, library: Path, home: Path) -> None:
        self._offset, self._file = 0.0, home / "offset"
        self.environ: Mapping[str, str] = {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # Otherwise waits with a limit end at once: two threads of Python that work then hardly do anything else.
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
            "NO_FAKE_STAT": "1",
            "PYTHONPATH": str(home),
        }
        (home / "sitecustomize.py").write_text(SLEEP)
        self.step(0.0)

    def step(self, seconds: float) -> None:
        """Set the clock forward, or back."""
        self._offset += seconds
        new = self._file.with_suffix(".new")
        new.write_text(f"{self._offset:+.3f}\n")
        new.chmod(0o644)
        new.replace(self._file)


@contextmanager
def settable_clock() -> Iterator[SettableClock]:
    """Provide a clock during the block. The test is skipped, or fails in CI, without libfaketime."""
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if library is None:
        missing("faketime")
    with tempfile.TemporaryDirectory(prefix="jarvis-clock-") as home:
        Path(home).chmod(0o755)
        yield SettableClock(library, Path(home))
