"""check_then_use: a file is checked by name, then used by name, and may have been replaced in between.

Both calls must be in one function and take the same expression, which must not be modified in between.
"""

from jarvis_workers.sec.rules.analysis.aliases import real_name
from jarvis_workers.sec.rules.analysis.mentions import Use
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.calls import arguments
from jarvis_workers.source.lazy_regex import lazy

RIGHTS, RARELY_HARMFUL = 0.1, -0.15
REACH, MENTIONS_MAX = 4_096, 12
CHECKING_CALLS: dict[bytes, tuple[int, float]] = {
    **dict.fromkeys(b"access _access _waccess _access_s _waccess_s eaccess euidaccess".split(), (0, RIGHTS)),
    **dict.fromkeys(b"stat lstat stat64 lstat64 _stat _wstat _stat64 _wstat64 _stat32 _stati64".split(), (0, 0.0)),
    b"faccessat": (1, RIGHTS),
    b"fstatat": (1, 0.0),
}
OPENS = frozenset(
    b"open open64 _open _wopen openat fopen fopen64 _wfopen freopen creat _creat _wcreat sopen _sopen opendir dlopen "
    b"execl execlp execle execv execvp execve chmod _chmod _wchmod chown lchown truncate link symlink".split()
)
# Calls that remove or rename a file harm only the owner of the directory.
NAMED = frozenset(
    b"unlink _unlink _wunlink remove _wremove rename _wrename rmdir _rmdir mkdir _mkdir _wmkdir mknod mkfifo".split()
)
GIVES = lazy(
    rb"_?(?:str|wcs|mem|lstr|_mbs)\w*(?:cpy|cat|move)\w*|\w*n?printf(?:_s)?|fgetw?s|fread|read|recv\w*|getcwd|realpath"
    rb"|basename|dirname|mk[sd]?temp\w*|strtok\w*|snprintf\w*|\w*scanf"
)
EXPRESSION = lazy(rb"[A-Za-z_]\w*+(?>(?:->|\.)\w++)*+\Z")
ATOMIC = lazy(rb"\bO_EXCL\b|\bO_NOFOLLOW\b|\b_O_EXCL\b|\bO_PATH\b|\bO_TMPFILE\b")
OPENED_AGAIN = lazy(rb"\b_?w?fstat(?:64|at)?\s*+\(")


def check_race(site: Site) -> float | None:
    """Raise the confidence for access checks, which test the rights of another user and can be outdated immediately."""
    index, moved = CHECKING_CALLS[site.name]
    path = site.masked(index).strip()
    if site.function is None or not EXPRESSION.match(path):
        return None
    use = _use_behind(site, path)
    if use is None:
        return None
    name = real_name(site.source, use.callee)
    return moved + (RARELY_HARMFUL if name in NAMED else 0.0)


def _use_behind(site: Site, path: bytes) -> Use | None:
    """Return the first use of the name after the check; None if that use is safe or the name may have changed."""
    for count, use in enumerate(site.uses_after(path, REACH)):
        if use.kind in ("assignment", "declaration", "address") or count >= MENTIONS_MAX:
            return None
        name = real_name(site.source, use.callee)
        if name in OPENS or name in NAMED:
            return None if _is_safe(site, use) else use
        if name and GIVES.fullmatch(name) and _is_first(site, use):
            return None
    return None


def _is_first(site: Site, use: Use) -> bool:
    return site.source.text[max(0, use.at - 64) : use.at].rstrip(b" \t\r\n&*").endswith(b"(")


def _is_safe(site: Site, use: Use) -> bool:
    """Return whether the open requires a new file, does not follow links, or is followed by fstat."""
    text = site.source.text
    opened = text.rfind(b"(", max(0, use.at - 64), use.at)
    args_node = arguments(text, opened)
    end = args_node.end or use.at
    body_end = site.function.body[1] if site.function else end
    if args_node.end and ATOMIC.search(text, opened, end):
        return True
    return OPENED_AGAIN.search(text, end, min(body_end, end + REACH)) is not None


RULES: tuple[Rule, ...] = (rule("check_then_use", check_race, calls=tuple(name.decode() for name in CHECKING_CALLS)),)
