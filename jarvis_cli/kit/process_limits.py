"""Refuse limits of the shell (`ulimit`) that are too low for any command, in one line instead of a failure later."""

import resource

from jarvis_workers.errors import UsageError

# A scan with one child needs 20 descriptors and 200 MB.
LEAST_FILES = 32
LEAST_BYTES = 256_000_000


def check_limits() -> None:
    """Raise UsageError if this process may open too few files, or have too little memory."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY and files < LEAST_FILES:
        raise UsageError(f"this process may open only {files} files, but needs {LEAST_FILES}: ulimit -n 1024")
    size, _ = resource.getrlimit(resource.RLIMIT_AS)
    if size != resource.RLIM_INFINITY and size < LEAST_BYTES:
        has, needs = size // 1_000_000, LEAST_BYTES // 1_000_000
        raise UsageError(f"this process may use only {has} MB of memory, but needs {needs} MB: ulimit -v unlimited")
