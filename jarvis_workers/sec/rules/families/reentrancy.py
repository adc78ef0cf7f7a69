"""strtok_nonreentrant, time_apis_not_threadsafe and inet_legacy: functions that return a pointer to static storage.

With threads, or with two results in use at the same time, the second result overwrites the first.
"""

import re

from jarvis_workers.sec.rules.analysis.literals import is_constant
from jarvis_workers.sec.rules.analysis.mentions import uses
from jarvis_workers.sec.rules.rule import Rule, Site, SourceText, rule
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

REACH = 4_096
LOOP_REACH = 1_024
THREADED, TWICE, IN_MAIN = 0.2, 0.4, -0.05
UNCHECKED, QUICK = 0.1, -0.05
THREADS = lazy(
    rb"\bpthread_create|<pthread\.h>|\bstd::(?:thread|async|jthread|mutex)\b|\bthrd_create|\bCreateThread\b|_beginthread|"
    rb"\bg_thread_|\bQThread|\buv_thread|\buv_queue_work|\bxTaskCreate|"
    rb"<thread>|<mutex>|<threads\.h>|\bomp_|#pragma omp|\bpthread_mutex_"
)
# Every match of THREADS contains one of these words, and searching for them takes a tenth of the time.
THREAD_WORDS = (b"hread", b"mutex", b"thrd_", b"uv_", b"xTask", b"omp", b"std::async")
# The functions of each group share one buffer.
SHARED = {
    **dict.fromkeys((b"localtime", b"gmtime"), (b"localtime", b"gmtime")),
    **dict.fromkeys((b"ctime", b"asctime"), (b"ctime", b"asctime")),
    **{name: (name,) for name in (b"inet_ntoa", b"gethostbyname", b"gethostbyaddr")},
}
REENTRANT = {
    b"strtok": (b"strtok_r", b"strtok_s", b"strsep"),
    b"inet_ntoa": (b"inet_ntop", b"inet_ntoa_r"),
    b"inet_addr": (b"inet_pton",),
    b"gethostbyname": (b"getaddrinfo", b"gethostbyname_r"),
    b"gethostbyaddr": (b"getnameinfo", b"gethostbyaddr_r"),
}
FROM_STRTOK = lazy(
    rb"\s*=\s*(?:\([\w\s*]{1,32}\)\s*)?(?:std\s*::\s*)?strtok\s*\(\s*(?:\([\w\s*]{1,32}\)\s*)?(?P<again>NULL|0|nullptr)?"
)
DEFINED = lazy(rb"#\s*define\s+(\w*)")
LOOPS = lazy(rb"\b(?:for|while|do)\b")
NAME = lazy(rb"[A-Za-z_]\w*\Z")
NOTHING = lazy(rb"\s*(?:\(\s*char\s*\*\s*\)\s*)?(?:NULL|0|nullptr)\s*\Z")
AFTER_CALL = lazy(rb"\s*+\)*+\s*+(?:->|\[)")


def check_strtok(site: Site) -> float | None:
    """Raise the confidence for nested strtok loops, where the inner loop ends the outer; report only first calls."""
    if NOTHING.match(site.masked(0)) or _has_alternative(site) or _is_renamed(site):
        return None
    if _is_nested(site):
        return TWICE
    return _threads(site)


def check_time(site: Site) -> float | None:
    """Raise the confidence if two results are in use at a time; lower it if no threads are visible."""
    if _has_alternative(site) or _is_renamed(site):
        return None
    if _is_overwritten(site):
        return TWICE
    copied = site.source.text[max(0, site.start - 8) : site.start].removesuffix(b"std::").rstrip().endswith(b"*")
    return _threads(site) + (QUICK if copied else 0.0)


def check_inet(site: Site) -> float | None:
    """Raise the confidence if the result is used unchecked or overwritten; skip constant addresses."""
    if _has_alternative(site) or _is_renamed(site):
        return None
    if site.name != b"inet_addr":
        if _is_overwritten(site):
            return TWICE
        end = site.arguments.end
        if site.name != b"inet_ntoa" and (_is_unchecked(site) or (end and AFTER_CALL.match(site.source.text, end))):
            return UNCHECKED + 0.1
        return UNCHECKED if knows_threads(site.source) else 0.0
    return None if is_constant(site.masked(0)) else 0.0


def knows_threads(source: SourceText) -> bool:
    """Return whether a file indicates that the program uses threads."""
    content = source.content
    return source.once(
        "threads", lambda: any(word in content for word in THREAD_WORDS) and THREADS.search(content) is not None
    )


def _threads(site: Site) -> float:
    if knows_threads(site.source):
        return THREADED
    return IN_MAIN if site.function and site.function.name == b"main" else 0.0


def _has_alternative(site: Site) -> bool:
    """Return whether the call is a fallback next to the reentrant function."""
    function = site.function
    if function is None:
        return False
    text = site.source.text
    others = REENTRANT.get(site.name, (site.name + b"_r", site.name + b"_s"))
    start, end = max(function.body[0], site.start - REACH), min(function.body[1], site.at + REACH)
    return any(text.find(other, start, end) >= 0 for other in others)


def _is_renamed(site: Site) -> bool:
    """Return whether the call is in a macro of the function's own name."""
    line = site.source.text[max(0, site.start - 160) : site.start].rpartition(b"\n")[2]
    defined = DEFINED.search(line)
    return defined is not None and defined[1] in (b"", site.name)


def _is_nested(site: Site) -> bool:
    """Return whether a token returned by an enclosing strtok loop is tokenized itself."""
    word = site.masked(0).strip()
    function = site.function
    if not NAME.match(word) or function is None or not LOOPS.search(site.before(LOOP_REACH)):
        return False
    cache: dict[tuple[int, bytes], bool] = site.source.once("words of strtok", dict)
    key = function.body[0], word
    if key not in cache:
        cache[key] = _walks(site.source.text, word, function)
    return cache[key]


def _walks(text: bytes, word: bytes, function: Function) -> bool:
    """Return whether a variable iterates over all tokens of a text."""
    match = [
        FROM_STRTOK.match(text, use.at + len(word), use.at + 128)
        for use in uses(text, word, *function.body)
        if use.kind == "assignment"
    ]
    return any(one["again"] for one in match if one)


def _is_overwritten(site: Site) -> bool:
    """Return whether a result is still used after the next call has overwritten it."""
    if site.name not in SHARED or site.function is None:
        return False
    if _is_beside_another(site):
        return True
    target = site.result.target
    if site.result.kind != "assigned" or not NAME.match(target) or _is_copied(site):
        return False
    return _is_used_behind(site, target, _next_call(site, target))


def _is_beside_another(site: Site) -> bool:
    """Return whether one call has two results as arguments: `printf("%s %s", inet_ntoa(a), inet_ntoa(b))`."""
    if site.result.kind != "passed" or site.arguments.end is None:
        return False
    text = site.source.text
    end = text.find(b";", site.arguments.end, site.arguments.end + 512)
    rest = text[site.arguments.end : end if end >= 0 else site.arguments.end]
    depth = 0
    for match in re.finditer(rb"[()]|\w+", rest):
        depth += (match[0] == b"(") - (match[0] == b")")
        if depth < 0:
            return False
        if (
            match[0] in SHARED[site.name]
            and b":" not in rest[: match.start()]
            and rest[match.end() :].lstrip()[:1] == b"("
        ):
            return True
    return False


def _is_copied(site: Site) -> bool:
    return site.source.text[max(0, site.start - 8) : site.start].removesuffix(b"std::").rstrip().endswith(b"*")


def _next_call(site: Site, target: bytes) -> int:
    """Return the offset, from the site, of the next call in the same block that shares the buffer, or -1."""
    after = site.after(REACH)
    position = -1
    for name in SHARED[site.name]:
        at = after.find(name + b"(")
        if at >= 0 and (position < 0 or at < position):
            position = at
    if position < 0 or after[position - 1 : position].isalnum() or after[position - 1 : position] == b"_":
        return -1
    between = after[:position]
    if between.count(b"}") > between.count(b"{") or b"return" in between or b"#el" in between or b"else" in between:
        return -1
    again = NAME.search(between.rstrip(b" =*"))
    return -1 if again and again[0] == target else position


def _is_used_behind(site: Site, target: bytes, call: int) -> bool:
    if call < 0 or site.arguments.end is None or site.function is None:
        return False
    start = site.source.text.find(b";", site.arguments.end + call)
    for use in uses(site.source.text, target, max(start, 0), min(site.function.body[1], start + REACH)):
        return start >= 0 and use.kind not in ("assignment", "declaration")
    return False


def _is_unchecked(site: Site) -> bool:
    result = site.result
    if result.kind != "assigned" or result.tested or not result.target:
        return False
    first = next(site.uses_after(result.target, 1_024), None)
    return first is not None and first.kind == "dereference"


RULES: tuple[Rule, ...] = (
    rule("strtok_nonreentrant", check_strtok, calls=("strtok",)),
    rule("time_apis_not_threadsafe", check_time, calls=("localtime", "gmtime", "ctime", "asctime")),
    rule(
        "inet_legacy", check_inet, calls=("inet_ntoa", "inet_addr", "gethostbyname", "gethostbyname2", "gethostbyaddr")
    ),
)
