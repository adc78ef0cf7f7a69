"""cond_wait_no_loop and thread_leak_no_join: a wait without a loop, and a thread that is never joined."""

import re
from itertools import chain, islice

from jarvis_workers.sec.rules.analysis.declarations import Scope
from jarvis_workers.sec.rules.analysis.facts import declaration, is_in_file
from jarvis_workers.sec.rules.analysis.function_exits import head_of
from jarvis_workers.sec.rules.analysis.mentions import uses
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

AFTER_IF, IN_ENDLESS_LOOP, SLEEPS = 0.1, -0.15, -0.2
FORGOTTEN, ENDS_PROGRAM, IN_MAIN, WITH_ATTRIBUTES, STORED = 0.2, 0.25, -0.15, -0.1, -0.1
BLOCKS_MAX = 24
MENTIONS_MAX = 16
REACH = 8_192
SHAPE_MAX = 128
GOES_BACK_MAX = 300
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
BRACES = lazy(rb"[{}]")
LOOP = lazy(rb"\b(?:while|for|do)\b")
ENDLESS = lazy(rb"\bwhile\s*\(\s*(?:1|true|TRUE)\s*\)|\bfor\s*\(\s*;\s*;\s*\)")
IF = lazy(rb"\bif\b")
# A test in the body of an endless loop that leaves it, and one whose other branch does not wait.
LEAVES_IF = lazy(rb"\b(?:if|else)\b[^{};]{0,120}?(?:\{[^{}]{0,300}?)?\b(?:break|return|goto)\b")
OTHER_BRANCH = lazy(rb"\s*;\s*\}?\s*else\b")
GOES_ROUND = lazy(
    rb"\s*;\s*(?:\w+\s*\([^(){};]{0,80}+(?:\([^(){};]{0,80}+\)[^(){};]{0,80}+)?\)\s*;\s*)?(?:continue|goto)\b"
)
GOES_BACK = lazy(rb"\bgoto\s+(?:again|retry|repeat|restart|loop|next|start|top|wait|redo|re)\w*")
LOCKS = lazy(rb"(?:lock|Lock|EnterCritical\w*)\s*\(")
UNIQUE_LOCK = lazy(rb"\bunique_lock\b")
OBJECT = lazy(rb"std::thread\s+(\w++)")
TIMED = lazy(rb"timed|_until|_for\b|Sleep")
WAITED_FOR = lazy(
    rb"\b(?:pthread_(?:timed|try|clock)?join(?:_np)?|pthread_detach|thrd_join|thrd_detach|pthread_attr_setdetachstate)\b"
    rb"|DETACHED"
)
MADE_DETACHED = lazy(rb"DETACHED|setdetachstate")
DETACHES_ITSELF = lazy(rb"\b(?:pthread_detach\s*\(\s*pthread_self|thrd_detach\s*\(\s*thrd_current)")
NO_ATTRIBUTES = lazy(rb"(?:\(\s*\w+\s*\*\s*\)\s*)?(?:NULL|nullptr|0)\Z")


def check_wait(site: Site) -> float | None:
    """Raise the confidence if an `if` tests the condition once; an enclosing endless loop may test it again."""
    function, end = site.function, _end(site)
    if function is None or not end or (_is_wrapper(site, function) if site.name else not _waits_on_lock(site, end)):
        return None
    text = site.source.text
    around = _around(site, function)
    heads = [text[head:at] for head, at in around]
    loop, start = next(((one, at) for one, (_, at) in zip(heads, around, strict=True) if LOOP.search(one)), (None, 0))
    if (loop is not None and not ENDLESS.search(loop)) or GOES_ROUND.match(text, end):
        return None
    behind = min(function.body[1], end + GOES_BACK_MAX)
    if GOES_BACK.search(text, end, behind):
        return None
    if loop is not None and (
        LEAVES_IF.search(text, start, site.start)
        or LEAVES_IF.search(text, end, behind)
        or OTHER_BRANCH.match(text, end)
    ):
        return None
    moved = SLEEPS if TIMED.search(site.name) else 0.0
    if loop is not None:
        return moved + IN_ENDLESS_LOOP
    return moved + (AFTER_IF if any(IF.search(head) for head in heads) else 0.0)


def _end(site: Site) -> int:
    """Return the offset after the call, 0 if there is no call."""
    if not site.name:
        return site.source.text.find(b")", site.start, site.start + SHAPE_MAX) + 1
    return site.arguments.end or 0


def _waits_on_lock(site: Site, end: int) -> bool:
    """Return whether a call is `ready.wait(lock)`, a C++ condition wait without a predicate."""
    text = site.source.text
    lock = text[text.find(b"(", site.start, end) + 1 : end - 1].strip()
    declared = declaration(site, lock)
    return declared is not None and UNIQUE_LOCK.search(text, *declared) is not None


def _is_wrapper(site: Site, function: Function) -> bool:
    """Return whether the function passes its own parameters to the wait and leaves the loop to its callers."""
    text = site.source.text
    base = re.match(rb"[\s&(*]*+(\w++)", site.masked(0))
    if base is None:
        return False
    is_passed = next(uses(text, base[1], *function.parameters), None) is not None
    return is_passed and LOCKS.search(text, *function.body) is None


def _around(site: Site, function: Function) -> list[tuple[int, int]]:
    """Return the spans of the heads of the statements and blocks that contain the site, innermost first."""
    text = site.source.text
    heads = [(_head_with_for(text, site.start), site.start)]
    floor = max(function.body[0], site.start - REACH)
    depth = 0
    for brace in reversed(list(BRACES.finditer(text, floor, site.start))):
        depth += 1 if brace[0] == b"}" else -1
        if depth < 0:
            depth = 0
            heads.append((_head_with_for(text, brace.start()), brace.start()))
    return heads[:BLOCKS_MAX]


def _head_with_for(text: bytes, at: int) -> int:
    """Return the start of the head of a block; the semicolons of a `for` do not end it."""
    head = head_of(text, at)
    close = text[head:at].rstrip()
    if not close.endswith(b")") or close.count(b")") <= close.count(b"("):
        return head
    loop = text.rfind(b"for", max(0, head - 256), head)
    return loop if loop >= 0 else head


def check_thread(site: Site) -> float | None:
    """Raise the confidence if the only handle of the thread is a local variable that is never mentioned again."""
    function = site.function
    if not site.name:
        return _check_object(site)
    arguments = site.arguments
    if function is None or arguments.end is None or len(arguments.spans) not in (3, 4):
        return None
    if _is_detached(site) or is_in_file(site, DETACHES_ITSELF):
        return None
    handle = site.masked(0).strip().removeprefix(b"&").strip()
    if handle == site.masked(0).strip() and NAME.match(handle) and Scope(site).is_parameter(handle):
        # The caller waits for it.
        return None
    moved = IN_MAIN if function.name == b"main" else 0.0
    attributes = site.name == b"pthread_create" and not NO_ATTRIBUTES.match(site.masked(1).strip())
    moved += WITH_ATTRIBUTES if attributes else 0.0
    if NAME.match(handle) and declaration(site, handle):
        return moved + FORGOTTEN if _is_forgotten(site, handle, function) else None
    return None if is_in_file(site, WAITED_FOR) else moved + STORED


def _check_object(site: Site) -> float | None:
    """Check for a `std::thread` that is neither joined nor detached: its destructor terminates the program."""
    function = site.function
    made = OBJECT.match(site.source.text, site.start)
    if function is None or made is None:
        return None
    rest = uses(site.source.text, made[1], made.end(), function.body[1])
    return ENDS_PROGRAM if next(rest, None) is None else None


def _is_detached(site: Site) -> bool:
    if site.name != b"pthread_create" or NO_ATTRIBUTES.match(site.masked(1).strip()):
        return False
    return is_in_file(site, MADE_DETACHED)


def _is_forgotten(site: Site, handle: bytes, function: Function) -> bool:
    """Return whether the handle is never used outside the call."""
    text, end = site.source.text, site.arguments.end or site.at
    declared = declaration(site, handle)
    start = declared[1] if declared else function.body[0]
    behind = uses(text, handle, end, min(function.body[1], end + REACH))
    mentions = list(islice(chain(behind, uses(text, handle, start, site.start)), MENTIONS_MAX))
    return len(mentions) < MENTIONS_MAX and all(use.kind == "assignment" or use.callee == site.name for use in mentions)


RULES: tuple[Rule, ...] = (
    rule(
        "cond_wait_no_loop",
        check_wait,
        calls=(
            "pthread_cond_wait",
            "pthread_cond_timedwait",
            "cnd_wait",
            "cnd_timedwait",
            "g_cond_wait",
            "g_cond_wait_until",
            "uv_cond_wait",
            "SDL_CondWait",
            "SleepConditionVariableCS",
            "SleepConditionVariableSRW",
        ),
        shapes=(r"(?:\.|->)wait ?\([A-Za-z_]\w{0,40}\)",),
    ),
    rule(
        "thread_leak_no_join",
        check_thread,
        calls=("pthread_create", "thrd_create"),
        shapes=(r"\bstd::thread [A-Za-z_]\w{0,40} ?[({]",),
    ),
)
