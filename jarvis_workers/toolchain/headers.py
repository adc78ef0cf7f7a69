"""Find the builtin headers of clang, such as stddef.h, for libclang, whose wheel does not include them.

The headers must be of the same major version as libclang.  Without them, `size_t` would become `int`, and most calls
would be lost.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.extras import advice

# The major version of the libclang wheel.
MAJOR = 18
SYSTEM = (f"/usr/lib/llvm-{MAJOR}/lib/clang", "/usr/lib/clang", "/usr/lib64/clang", "/usr/local/lib/clang")


def builtin_headers(configured: str | None) -> Path:
    """Return the directory of stddef.h: the configured one, or that of clang-tidy's wheel or of an installed clang.

    `configured` is the setting c2rust.clang_headers.  Raises UsageError if there is no such directory.
    """
    if configured:
        return _configured(Path(configured).expanduser())
    directory = next((path for path in _candidates() if (path / "stddef.h").is_file()), None)
    if directory is None:
        raise UsageError(
            f"reading C needs the built-in headers of clang {MAJOR}: {advice('c2rust')}, "
            "or set c2rust.clang_headers to the directory of its stddef.h"
        )
    return directory


def _configured(path: Path) -> Path:
    for one in (path, path / "include"):
        if (one / "stddef.h").is_file():
            return one.absolute()
    raise UsageError(f"c2rust.clang_headers: no stddef.h in {str(path)!r}; set it to the built-in headers of clang")


def _candidates() -> Iterator[Path]:
    spec = find_spec("clang_tidy")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        yield Path(place, "data", "lib", "clang", str(MAJOR), "include")
    for directory in SYSTEM:
        for version in sorted(Path(directory).glob(f"{MAJOR}*")):
            if version.name.split(".")[0] == str(MAJOR):
                yield version / "include"
