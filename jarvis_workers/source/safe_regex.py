"""Search with untrusted patterns in time linear in the length of the text.

Twenty characters are enough for catastrophic backtracking in Python's `re`, so only google-re2 is used.
"""

from collections.abc import Callable

PATTERN_MAX = 1_000
MEMORY_BYTES = 1 << 20


def is_linear_here() -> bool:
    """Return whether google-re2 is installed."""
    try:
        import re2  # noqa: F401
    except ImportError:
        return False
    return True


def compile_linear(pattern: str) -> Callable[[bytes], bool]:
    """Return a search function. Raises ImportError without google-re2, and ValueError for an invalid pattern."""
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.max_mem = MEMORY_BYTES
    if len(pattern) > PATTERN_MAX:
        raise ValueError(f"is longer than {PATTERN_MAX} characters")
    try:
        search = re2.compile(pattern.encode(), options=options).search
    except re2.error as error:
        raise ValueError(bytes(error.args[0]).decode("utf-8", "replace")) from error
    return lambda text: search(text) is not None
