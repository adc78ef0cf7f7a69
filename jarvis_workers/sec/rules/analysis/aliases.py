"""Aliases of functions: macros of a file, such as `#define drop(p) free(p)`, and Windows spellings, such as `_wpopen`.

Only macros that change nothing but the name are followed, and only through short chains.  If an alias refers to
different functions, for example under `#ifdef _WIN32`, the POSIX function is used.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from jarvis_workers.sec.rules.rule import SourceText
from jarvis_workers.source.lazy_regex import lazy

CHAIN_MAX, ALIASES_MAX = 3, 64
LINE_MAX, DEFINES_MAX = 160, 20_000
WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$")
FOLLOWS = rb"(?=[(\s\\/])"
HEAD = lazy(rb"[ \t]*+#[ \t]*+define[ \t]++([A-Za-z_]\w*+)(?>\(([^()\n]*+)\))?+[ \t]++\Z")
STANDS_FOR = lazy(rb"define[ \t]++\w++(?>\([^()\n]*+\))?+[ \t]++([A-Za-z_]\w*+)")
ENDS = lazy(rb"[ \t\r]*+(?:\n|\Z|/[/*])")
ARGUMENTS = lazy(rb"\(([^\n]*)\)[ \t]*+;?[ \t\r]*+(?:\n|\Z|/[/*])")
PLAIN = lazy(rb"(?:\([\w \t*]+\)[ \t]*)?\(?[ \t]*(?:\#\#)?[ \t]*(\w+)[ \t]*\)?\Z")
WINDOWS = lazy(rb"_|[A-Z]\w*[a-z]")
DIRECTIVE = lazy(rb"#[ \t]*+(?:define|undef|ifn?def)[ \t]++\Z")

_Name = tuple[int, bytes, Any, bool, int]
# The aliases take the same arguments in the same order; functions that count wide characters map to such functions.
SPELLINGS: Mapping[bytes, bytes] = {
    spelling.encode(): name.encode()
    for name, spellings in {
        "access": "_access _waccess", "alloca": "_alloca", "atof": "_wtof", "atoi": "_wtoi",
        "atol": "_wtol", "atoll": "_atoi64 _wtoi64 _wtoll", "chdir": "_chdir _wchdir", "chmod": "_chmod _wchmod",
        "close": "_close", "creat": "_creat _wcreat", "dup": "_dup", "dup2": "_dup2", "execl": "_execl _wexecl",
        "execle": "_execle _wexecle", "execlp": "_execlp _wexeclp", "execv": "_execv _wexecv",
        "execve": "_execve _wexecve", "execvp": "_execvp _wexecvp", "execvpe": "_execvpe _wexecvpe",
        "fdopen": "_fdopen _wfdopen", "fopen": "_wfopen", "freopen": "_wfreopen", "getcwd": "_getcwd _wgetcwd",
        "getenv": "_wgetenv", "gets": "_getws getws", "lseek": "_lseek _lseeki64", "mkdir": "_mkdir _wmkdir",
        "mktemp": "_mktemp _wmktemp", "open": "_open _wopen", "pclose": "_pclose", "popen": "_popen _wpopen",
        "puts": "_putws", "read": "_read", "remove": "_wremove", "rename": "_wrename", "rmdir": "_rmdir _wrmdir",
        "snprintf": "_snprintf", "sprintf": "wsprintfA", "stat": "_stat _wstat _stat64 _wstat64 _stat32 _stati64",
        "strcat": "_mbscat lstrcatA", "strcpy": "_mbscpy lstrcpyA", "strdup": "_strdup _wcsdup _mbsdup",
        "strncat": "_mbsncat", "strncpy": "_mbsncpy", "strtok": "_mbstok", "swprintf": "_snwprintf",
        "system": "_wsystem WinExec", "tempnam": "_tempnam _wtempnam", "tmpnam": "_wtmpnam", "umask": "_umask",
        "unlink": "_unlink _wunlink", "vsnprintf": "_vsnprintf", "vswprintf": "_vsnwprintf", "wcscat": "lstrcatW",
        "wcscpy": "lstrcpyW", "write": "_write",
    }.items()
    for spelling in spellings.split()
}  # fmt: skip


def aliases(content: bytes, found: Iterable[_Name], names: Collection[bytes]) -> dict[bytes, bytes]:
    """Return a map from aliases near the occurrences of known names to functions; known names are never aliases."""
    named: dict[bytes, bytes] = {}
    for start, name, _, called, end in found:
        # Most names have no `#` before them, and the rest of the loop is slow.
        if called and content.rfind(b"#", max(0, start - LINE_MAX), start) >= 0:
            alias = _defined(content, start, end)
            if alias:
                _take(named, alias, name, names)
    if named:
        _follow(content, named, names)
    return named


def occurrences(content: bytes, named: Mapping[bytes, bytes], limit: int) -> list[tuple[int, bytes, int]]:
    """Return the first `limit` occurrences of aliases, in order: start, aliased function, end."""
    each = ((start, name, start + len(alias)) for alias, name in named.items() for start in _whole(content, alias))
    return sorted(islice(each, limit))


def real_name(source: SourceText, name: bytes) -> bytes:
    """Return the function that a name in the file refers to, usually the name itself."""
    named = source.aliases.get(name, name)
    return SPELLINGS.get(named, named)


def _follow(content: bytes, named: dict[bytes, bytes], names: Collection[bytes]) -> None:
    """Add aliases of aliases."""
    spans = [one.span(1) for one in islice(STANDS_FOR.finditer(content), DEFINES_MAX)]
    for _ in range(CHAIN_MAX - 1):
        fresh = dict(named)
        for start, end in spans:
            name = named.get(content[start:end])
            alias = _defined(content, start, end) if name else None
            if name and alias and alias not in named:
                _take(fresh, alias, name, names)
        named.update(fresh)


def _take(named: dict[bytes, bytes], alias: bytes, name: bytes, names: Collection[bytes]) -> bool:
    if alias in names or alias == name or len(named) >= ALIASES_MAX:
        return False
    if alias not in named or WINDOWS.match(named[alias]):
        named[alias] = name
    return True


def _defined(content: bytes, start: int, end: int) -> bytes | None:
    """Return the macro whose entire definition is the name at `start`."""
    floor = max(0, start - LINE_MAX)
    line = content.rfind(b"\n", floor, start) + 1 or floor
    head = HEAD.match(content, line, start)
    if head is None or (line == floor and floor):
        return None
    if head[2] is None:
        return head[1] if ENDS.match(content, end, end + LINE_MAX) else None
    match = ARGUMENTS.match(content, end, end + LINE_MAX)
    return head[1] if match and _parameters(head[2]) == _passed(match[1]) else None


def _parameters(listed: bytes) -> list[bytes]:
    named = (b"".join(one.split()) for one in listed.split(b","))
    return [b"__VA_ARGS__" if one == b"..." else one.removesuffix(b"...") for one in named]


def _passed(listed: bytes) -> list[bytes]:
    """Return the names of the arguments without casts and parentheses; an empty name for any other expression."""
    plain = (PLAIN.match(one.strip()) for one in listed.split(b","))
    return [one[1] if one else b"" for one in plain]


def _whole(content: bytes, word: bytes) -> Iterator[int]:
    """Yield the offsets at which a word occurs by itself and is not being defined."""
    for match in re.finditer(re.escape(word) + FOLLOWS, content):
        start = match.start()
        if not (start and content[start - 1] in WORD) and not DIRECTIVE.search(content, max(0, start - 24), start):
            yield start
