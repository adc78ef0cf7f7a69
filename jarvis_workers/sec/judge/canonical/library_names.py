"""The names that C, C++ and Rust, their libraries and POSIX define, as `library_names.json` lists them.

The lists are from the headers of glibc and libstdc++ 12 and from the documentation of Rust's standard library 1.95.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jarvis_workers.sec.judge.slices.keywords import KEYWORDS

# What a name of each kind must stand behind or before, in the languages where that tells it from a variable.
MEMBER = (b".", b"->")
QUALIFIED = (b"::", *MEMBER)
HEADERS = frozenset(
    """
    arpa/inet assert ctype dirent dlfcn errno fcntl fenv float getopt glob grp iconv ifaddrs inttypes iso646 libgen
    limits linux/limits locale malloc math memory net/if netdb netinet/in netinet/tcp poll pthread pwd regex sched
    semaphore setjmp signal stdarg stdatomic stdbool stddef stdint stdio stdlib string strings sys/epoll sys/file
    sys/ioctl sys/mman sys/param sys/resource sys/select sys/socket sys/stat sys/time sys/types sys/uio sys/un sys/wait
    syslog termios
    threads time unistd utime wchar wctype windows algorithm array atomic chrono cstdint cstdio cstdlib cstring fstream
    functional iostream map memory mutex new optional set sstream stdexcept thread utility vector
    """.split()  # noqa: SIM905  (a table)
)


def is_header(name: str) -> bool:
    """Return whether a name is that of a header of the system that programs include most."""
    return name.removesuffix(".h") in HEADERS


def is_word(word: str, language: str, before: bytes) -> bool:
    """Return whether a word belongs to the language itself, so that no project can define it."""
    of_c = _names()["c"]
    if language != "rust" and before.endswith(b"#"):
        return word in of_c["directives"]
    return word in KEYWORDS[language] or (language != "rust" and word in of_c["words"])


def is_library_name(word: str, language: str, before: bytes, after: bytes, *, is_cpp: bool) -> bool:
    """Return whether a word stands for what a library defines; `before` and `after` are the code without blanks.

    It does not tell whether the project has a definition of its own.
    """
    names, is_called = _names(), after.startswith(b"(")
    if language == "rust":
        of_rust = names["rust"]
        is_named = before.endswith(QUALIFIED) or after.startswith((b"(", b"!", b"::"))
        return word in of_rust["words"] or (is_named and word in of_rust["functions"])
    of_c, of_cpp = names["c"], names["c++"]["qualified"]
    if before.endswith(MEMBER):
        return word in of_c["members"] or (is_cpp and is_called and word in of_cpp)
    if any(word in of_c[kind] for kind in ("types", "constants", "functions")):
        return True
    return word == "std" or (is_cpp and word in of_cpp and (before.endswith(b"::") or after.startswith(b"<")))


@cache
def _names() -> Mapping[str, Mapping[str, frozenset[str]]]:
    text = files(__package__).joinpath("library_names.json").read_text("utf-8")
    return {
        language: {kind: frozenset(" ".join(lines).split()) for kind, lines in kinds.items()}
        for language, kinds in json.loads(text).items()
    }
