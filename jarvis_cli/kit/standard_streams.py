"""Standard output whose errors are distinguishable from those of other files.

All text that commands print to a file or a pipe passes through one file object, so that a full disk or a closed
descriptor is one message.
"""

import errno
import os
import sys
from io import BufferedWriter, FileIO, TextIOWrapper

from jarvis_workers.errors import OutputFailed


class _StandardOutput(FileIO):
    """Descriptor 1; writing raises OutputFailed, and BrokenPipeError if its reader is gone."""

    def __init__(self, *, is_open: bool) -> None:
        super().__init__(1, "wb", closefd=False)
        self._is_open = is_open

    def write(self, data: "bytes | bytearray | memoryview", /) -> int:  # type: ignore[override]
        if not self._is_open:
            self._is_open = True  # on /dev/null, for what is still buffered
            raise OutputFailed(errno.EBADF, "standard output is closed")
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputFailed(error.errno, error.strerror) from error


def prepare_standard_streams() -> None:
    """Report errors of standard output as OutputFailed, and escape characters that the terminal's encoding lacks.

    Closed descriptors are opened to /dev/null, so that no other file gets them.
    """
    open_standard_streams()
    stdout = sys.stdout
    if isinstance(sys.stderr, TextIOWrapper):
        sys.stderr.reconfigure(errors="backslashreplace")
    if isinstance(stdout, TextIOWrapper) and stdout.isatty():  # A terminal may go away, which is an end like others.
        stdout.reconfigure(errors="backslashreplace")
        return
    sys.stdout = TextIOWrapper(
        BufferedWriter(_StandardOutput(is_open=stdout is not None)),
        encoding=stdout.encoding if stdout else None,
        errors="backslashreplace",
        line_buffering=isinstance(stdout, TextIOWrapper) and (stdout.line_buffering or stdout.write_through),
    )


def is_output_closed() -> bool:
    """Return whether the program was started without standard output."""
    return sys.__stdout__ is None


def open_standard_streams() -> None:
    """Open /dev/null for closed standard streams, so that no other file gets their descriptors."""
    for number, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
