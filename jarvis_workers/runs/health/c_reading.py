"""Whether this machine can read C for `jarvis c2rust`, and build Rust: libclang, its headers, and a toolchain."""

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

from jarvis_workers.errors import JarvisError, UsageError
from jarvis_workers.extras import advice
from jarvis_workers.runs.health.doctor import Check
from jarvis_workers.settings import Settings
from jarvis_workers.toolchain.cargo import find_rust
from jarvis_workers.toolchain.headers import builtin_headers

WHEEL = "libclang"


def load_library() -> str:
    """Load libclang and return its version; raise UsageError if that fails."""
    from jarvis_workers.source.clang.libclang import library  # noqa: PLC0415 - loads 80 MB, and few commands need it

    try:
        library()
        return version(WHEEL)
    except OSError as error:
        raise UsageError(f"libclang cannot be loaded: {error}") from error
    except PackageNotFoundError:
        return "of an unknown version"


def examine_c_reading(settings: Settings, load: Callable[[], str] = load_library) -> list[Check]:
    """Check libclang, its headers and Rust. A failed check is only a warning: only `jarvis c2rust` needs them."""
    return [
        _probed("libclang", load, f"only jarvis c2rust needs it; {advice('c2rust')}"),
        _probed(
            "clang headers",
            lambda: str(builtin_headers(settings.c2rust.clang_headers)),
            "without them, types such as size_t are unknown, so jarvis c2rust refuses to read C",
        ),
        _probed("rust toolchain", _rust, "only jarvis c2rust fast needs it"),
    ]


def _rust() -> str:
    tools = find_rust()
    return f"{tools.root}, version {'.'.join(map(str, tools.version))}"


def _probed(name: str, probe: Callable[[], str], remedy: str) -> Check:
    try:
        return Check(name, "ok", probe())
    except JarvisError as error:
        return Check(name, "warn", str(error), remedy)
