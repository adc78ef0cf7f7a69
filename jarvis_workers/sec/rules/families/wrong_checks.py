"""wrong_result_check: a result is compared with a value that does not indicate failure, so failures go unnoticed.

Each family of functions reports failure in its own way; a comparison is wrong if it cannot detect a failure.
"""

import re
from typing import NamedTuple

from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

REACH = 160
BRANCH_MAX = 200
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
COMPARISON = lazy(
    rb"(?P<closed>\s*+\))?\s*+(?P<by>[=!<>]=|[<>](?![<>]))\s*+\(?\s*+(?P<to>-?\s*+\w++)(?!\s*+[(\[.+*/-])"
)
NEGATED_WHOLE = lazy(rb"!\s*+\(\s*+[\w.>-]++\s*+=\s*+(?:\([\w\s*]*+\)\s*+)?\Z")
ZEROS = frozenset((b"0", b"NULL", b"nullptr", b"0L", b"FALSE", b"false"))
NEGATIVES = frozenset((b"-1", b"EOF", b"WEOF", b"-1L"))
FAILS = lazy(
    rb"\b(?:fail|error|cannot|could ?n.t|unable)|\b(?:perror|abort|exit)\s*\(|\breturn\s+-"
    rb"|\bgoto\s+\w*(?:err|fail|out)",
    re.IGNORECASE,
)
SUCCEEDS = lazy(rb"\b(?:should have|unexpected|succeeded|must fail|expected)", re.IGNORECASE)


class Family(NamedTuple):
    """Functions with the same failure result: comparisons that do not detect it, and the confidence adjustment.

    If `is_final` is false, a variable that receives the result may be compared again later.
    """

    names: bytes
    wrong: frozenset[str]
    moved: float
    is_final: bool = True


# A comparison is "zero" (`== 0`, `!`), "not zero", "negative" (`< 0`, `>= 0`) or "minus" (`== -1`, `!= EOF`).
FAMILIES = (
    Family(
        b"fputs fputws fputc fputwc putc putwc putchar putwchar puts _putws putws ungetc fprintf fwprintf "
        b"printf wprintf snprintf _snprintf swprintf _snwprintf vfprintf",
        frozenset(("zero",)),
        0.05,
    ),
    Family(b"scanf fscanf sscanf wscanf fwscanf swscanf", frozenset(("zero",)), -0.1, is_final=False),
    Family(
        b"fgets fgetws getcwd realpath fopen _wfopen freopen fdopen popen _popen opendir tmpfile",
        frozenset(("negative", "minus")),
        0.2,
    ),
    Family(b"fread fwrite", frozenset(("negative", "minus")), 0.2),
    Family(
        b"pthread_create pthread_join pthread_mutex_init pthread_mutex_lock pthread_mutex_unlock pthread_cond_init "
        b"pthread_key_create pthread_rwlock_rdlock pthread_rwlock_wrlock posix_memalign posix_fallocate",
        frozenset(("negative", "minus")),
        0.15,
    ),
    Family(b"open open64 _open socket creat mkstemp", frozenset(("zero",)), 0.15),
    Family(b"mmap mmap64 shmat", frozenset(("zero",)), 0.25),
    Family(b"CreateFileA CreateFileW CreateNamedPipeA CreateNamedPipeW", frozenset(("zero",)), 0.2),
    Family(
        b"EVP_VerifyFinal EVP_DigestVerifyFinal ECDSA_verify ECDSA_do_verify DSA_verify DSA_do_verify",
        frozenset(("zero", "not zero")),
        0.2,
        is_final=False,
    ),
)
WRONG = {name: family for family in FAMILIES for name in family.names.split()}
HANDLES = frozenset(
    b"CreateMutexA CreateMutexW CreateEventA CreateEventW CreateSemaphoreA CreateSemaphoreW OpenProcess CreateThread "
    b"CreateFileMappingA CreateFileMappingW".split()
)
ZERO_IS_GOOD = frozenset(b"remove _wremove rename _wrename unlink _unlink _wunlink rmdir _rmdir fclose fflush".split())

NEGATED = frozenset(name for name, family in WRONG.items() if "zero" in family.wrong) | ZERO_IS_GOOD
OPENS = frozenset(b"open open64 _open".split())
CAST = frozenset(b"mmap mmap64 shmat".split())
WINDOW = 240
ZERO = lazy(rb"==\s*\(?\s*(?:0|NULL|nullptr|FALSE|false)\b|!\s*\w+\s*\)|!=\s*0")
NEGATIVE = lazy(rb"(?:<|>=)\s*0\b|[!=<]=\s*\(?\s*(?:-\s*1|W?EOF)\b")
RELEVANT = {
    **{name: ZERO if name in NEGATED else NEGATIVE for name in (*WRONG, *ZERO_IS_GOOD)},
    **dict.fromkeys(HANDLES, re.compile(rb"INVALID_HANDLE_VALUE")),
}


def is_no_check(name: bytes, content: bytes, end: int) -> bool:
    """Dismiss a call whose result is ignored or is not compared with a wrong error value."""
    before = content[max(0, end - len(name) - 24) : end - len(name)]
    before = before.removesuffix(b"std::").rstrip(b" \t\r\n")
    if before.endswith(b"!") or b"!(" in before:
        return name not in NEGATED
    if before.endswith((b";", b"{", b"}", b":", b"return")) or (before.endswith(b")") and name not in CAST):
        return True
    window = content[end : end + WINDOW]
    if not before.endswith((b"=", b")")):
        window = window.partition(b";")[0].partition(b"{")[0]
    return RELEVANT[name].search(window) is None


def check_comparison(site: Site) -> float | None:
    """Check the comparison right after the call, or the first test of the variable that receives the result."""
    if site.function is None or site.arguments.end is None or site.result.kind == "ignored":
        return None
    kind, to, end = _comparison(site)
    if site.name in HANDLES:
        return 0.2 if to == b"INVALID_HANDLE_VALUE" else None
    if site.name in ZERO_IS_GOOD:
        return 0.0 if kind == "zero" and _says_failed(site, end) else None
    family = WRONG[site.name]
    if not family.is_final and site.result.kind == "assigned" and not site.result.tested:
        return None
    if site.name in OPENS and b"O_" not in site.masked(1):
        return None
    return family.moved if kind in family.wrong else None


def _comparison(site: Site) -> tuple[str, bytes, int]:
    """Return the kind of the comparison, the value compared with, and the end offset of the comparison."""
    text, end = site.source.text, site.arguments.end or site.at
    result = site.result
    if result.kind == "assigned" and not result.tested:
        return _next_test(site)
    match = COMPARISON.match(text, end, end + REACH)
    if match and bool(match["closed"]) == (result.kind == "assigned"):
        return _kind(match), _squeezed(match["to"]), match.end()
    before = text[max(0, site.start - REACH) : site.start].rstrip()
    if (result.kind == "tested" and before.endswith(b"!")) or NEGATED_WHOLE.search(before):
        return "zero", b"0", end
    return "", b"", end


def _next_test(site: Site) -> tuple[str, bytes, int]:
    text, target = site.source.text, site.result.target
    use = next(site.uses_after(target, REACH), None) if NAME.match(target) else None
    if use is None or use.kind != "test":
        return "", b"", site.at
    end = use.at + len(target)
    match = COMPARISON.match(text, end, end + REACH)
    if match and not match["closed"]:
        return _kind(match), _squeezed(match["to"]), match.end()
    negated = text[max(0, use.at - 8) : use.at].rstrip().endswith(b"!")
    return ("zero", b"0", end) if negated and text[end : end + 1] == b")" else ("", b"", end)


def _kind(match: re.Match[bytes]) -> str:
    by, to = match["by"], _squeezed(match["to"])
    if to in NEGATIVES:
        return "minus" if by in (b"==", b"!=", b"<=") else ""
    if to not in ZEROS:
        return ""
    if by in (b"==", b"!="):
        return "zero" if by == b"==" else "not zero"
    return "negative" if by in (b"<", b">=") else ""


def _says_failed(site: Site, end: int) -> bool:
    """Return whether the branch taken on success mentions a failure."""
    text, content = site.source.text, site.source.content
    start = text.find(b")", end, end + REACH)
    if start < 0:
        return False
    block = text[start + 1 : start + 64].lstrip().startswith(b"{")
    stop = text.find(b"}" if block else b";", start, start + BRANCH_MAX)
    branch = content[start : stop if stop >= 0 else start + BRANCH_MAX]
    return FAILS.search(branch) is not None and SUCCEEDS.search(branch) is None


def _squeezed(expression: bytes) -> bytes:
    return b"".join(expression.split())


RULES: tuple[Rule, ...] = (
    rule(
        "wrong_result_check",
        check_comparison,
        calls=tuple(name.decode() for name in (*WRONG, *HANDLES, *ZERO_IS_GOOD)),
        dismisses=is_no_check,
    ),
)
