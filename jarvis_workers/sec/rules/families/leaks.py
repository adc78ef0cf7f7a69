"""error_path_leak: a function acquires a resource and does not release it at one of its exits."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jarvis_workers.sec.rules.analysis.facts import declaration, target_at
from jarvis_workers.sec.rules.analysis.function_exits import Way, acquisition_end, ways_out
from jarvis_workers.sec.rules.analysis.mentions import Use, uses
from jarvis_workers.sec.rules.rule import REACH, Rule, Site, rule
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

GIVEN_BACK_ELSEWHERE, ON_ERROR, LENT, IN_MAIN = 0.15, 0.05, -0.1, -0.2
ACQUIRES = (
    b"malloc calloc strdup strndup wcsdup aligned_alloc memalign xmalloc xcalloc xstrdup xstrndup zmalloc "
    b"zcalloc zstrdup g_malloc g_malloc0 g_strdup g_strndup g_strdup_printf kmalloc kzalloc kcalloc "
    b"kmalloc_array kvmalloc kvzalloc kvcalloc kmalloc_node kzalloc_node vmalloc vzalloc kmemdup kstrdup "
    b"kstrndup kasprintf fopen fopen64 fdopen tmpfile popen opendir open open64 openat creat socket accept "
    b"accept4 dup epoll_create epoll_create1 inotify_init eventfd timerfd_create memfd_create mkstemp "
    b"mkostemp"
).split()
MENTIONS_MAX = 48
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
CONDITIONAL = lazy(rb"\b(?:if|else|case)\b")
RETURNS_NOTHING = lazy(rb"\bvoid\s++(?:\w++\s*+::\s*+)?\Z")
COMPARED = lazy(rb"\s*+(?:[=!<>]=|[<>](?![<>]))")
# Minimum and maximum number of arguments, for functions whose names may also belong to other functions.
ARGUMENTS = {b"open": (2, 3), b"openat": (3, 4), b"socket": (3, 3), b"accept": (3, 3), b"dup": (1, 1), b"creat": (2, 2)}
RELEASES = lazy(
    rb"free|clos|destroy|releas|delete|unref|(?:\A|_)put(?:_|\Z)|cleanup|clean_up|dispos|discard|drop|munmap|_fini|Free|Clos",
)
KEEPS = lazy(
    rb"add|insert|push|append|set|register|attach|queue|store|save|link|init|wrap|new|create|from|open|take|"
    rb"own|steal|assign|track|give|send|submit|start|spawn|thread|hand|keep|cache|hold|move|put|reg|bind|"
    rb"list|join|replace|swap|realloc|publish|run|job|work|schedul|timer|callback|async|exec|data",
    re.IGNORECASE,
)
BORROWS = frozenset(
    b"strlen strnlen strcpy strncpy strcat strncat strcmp strncmp strcasecmp strncasecmp strchr strrchr "
    b"strstr strlcpy strlcat strtol strtoul strtoll strtoull strtod atoi atol atoll atof memcpy memmove "
    b"memset memcmp memchr bcopy bzero sprintf snprintf vsprintf vsnprintf printf fprintf vfprintf puts "
    b"fputs fputc putc fgets fgetc getc fread fwrite fscanf sscanf fseek fseeko ftell ftello rewind feof "
    b"ferror fflush fileno getline getdelim read write pread pwrite readv writev lseek fstat ftruncate "
    b"fsync fdatasync ioctl fcntl bind listen connect setsockopt getsockopt getsockname getpeername send "
    b"sendto recv recvfrom shutdown readdir dirfd rewinddir sizeof flock fchmod fchown copy_from_user "
    b"copy_to_user kernel_read kernel_write perror syslog printk pr_err pr_info pr_debug dev_err dev_dbg "
    b"dev_info ERR_PTR wcslen wcscpy wcscat wprintf clearerr setvbuf setbuf ungetc poll accept isatty if "
    b"while switch assert regcomp qsort strtok strtok_r strspn strcspn strpbrk toupper tolower "
    b"print_hex_dump epoll_ctl epoll_wait".split()
)
# Callees in tests of the resource itself, such as `if (!p)` and `if (IS_ERR(p))`.
TESTS = frozenset(b"if while switch IS_ERR IS_ERR_OR_NULL unlikely likely WARN_ON WARN_ON_ONCE isatty assert".split())
CLEANED_UP = lazy(rb"(?i:cleanup)|(?i:auto)_?(?i:free|f?close|unref|ptr|list)|__free|__do_|cleaner|_ptr\b|RAII")
ERROR_VALUE = lazy(
    rb"return\s*\(*\s*(?:-|NULL|nullptr|false|FALSE|\w*ERR|\w*FAIL|\w*_E[A-Z]|err|ret\b|rc\b|res\b|error|status|EXIT_FAILURE)"
)
ERROR_LABEL = lazy(rb"err|fail|bad|out|abort|exit|done|end", re.IGNORECASE)
TESTED_FOR_FAILURE = lazy(rb"\s*+\)?\s*+(?:==|<)")
FAILURE_IN_FRONT = lazy(rb"(?:\b(?:NULL|nullptr)|-\s*+1)\s*+==\s*+\(\s*+\Z|\b0\s*+>\s*+\(\s*+\Z")
IN_SUCCESS = lazy(
    rb"\s*+;?\s*+if\s*+\(\s*+(?P<name>\w++)\s*+(?>!=\s*+(?:-1|NULL|nullptr|0|[A-Z][A-Z0-9_]*+)|>=\s*+0|>\s*+-1)?+\s*+\)"
    rb"\s*+(?:\{(?P<body>[^{}]*+)\}(?!\s*+else\b)|return\s*+\(?\s*+(?P=name)\b)"
)
ENDS = lazy(rb"\bgoto\b|\b(?:_?_?exit|abort|die|fatal|panic|usage|err|errx|longjmp|_Exit|quick_exit)\w{0,16}+\s*+\(")


class _Story(NamedTuple):
    """Fate of a resource: offsets at which it is released or lent, and the offset up to which its fate is known."""

    releases: list[int]
    lent: list[int]
    end: int
    whole: bool


def check_leak(site: Site) -> float | None:
    """Raise the confidence if another exit releases the resource, which shows that the function owns it."""
    function, name = site.function, site.result.target
    if function is None or site.arguments.end is None or site.result.kind != "assigned" or not NAME.match(name):
        return None
    least, most = ARGUMENTS.get(site.name, (1, 9))
    if site.name in ARGUMENTS and next(uses(site.source.text, site.name, function.body[0], site.start), None):
        return None
    if not least <= len(site.arguments.spans) <= most or not _is_its_own(site, name):
        return None
    start = _acquired_from(site)
    if start is None or _is_used_in_its_block(site, name):
        return None
    story = _story(site, name, start, function)
    return max((_weight(way, story, site) for way in _leaks(site, name, start, story)), default=None)


def _acquired_from(site: Site) -> int | None:
    text, end = site.source.text, site.arguments.end
    at = target_at(site)
    if end is None or text[max(0, at - 16) : at].rstrip().endswith(b"="):
        return None
    before = text[max(0, at - 32) : at]
    if FAILURE_IN_FRONT.search(before):
        return acquisition_end(text, site.start, end, fails=True)
    if not site.result.tested:
        return acquisition_end(text, site.start, end, fails=False)
    negated = before.rstrip(b" \t\r\n(").endswith(b"!")
    return acquisition_end(text, site.start, end, fails=negated or TESTED_FOR_FAILURE.match(text, end) is not None)


def _is_used_in_its_block(site: Site, name: bytes) -> bool:
    """Return whether the function tests for success, and returns from there, with the resource or after its release."""
    block = IN_SUCCESS.match(site.source.text, site.arguments.end or site.at)
    if block is None or block["name"] != name:
        return False
    if block["body"] is None:
        return True
    return b"return" in block["body"] and RELEASES.search(block["body"]) is not None


def _is_its_own(site: Site, name: bytes) -> bool:
    """Return whether the variable is local to the function and has no automatic cleanup."""
    declared = declaration(site, name)
    return declared is not None and CLEANED_UP.search(site.source.text, *declared) is None


def _story(site: Site, name: bytes, start: int, function: Function) -> _Story:
    """Follow the variable up to the point where its ownership may have been transferred."""
    text, reach = site.source.text, min(function.body[1], start + REACH)
    releases: list[int] = []
    lent: list[int] = []
    for count, use in enumerate(uses(text, name, start, reach)):
        fate = "kept" if count >= MENTIONS_MAX else _fate(text, use, name)
        if fate == "released":
            releases.append(use.at)
        elif fate == "lent":
            lent.append(use.at)
        elif fate == "kept":
            reach = use.at
            break
    unclear = [at for at in lent if not releases or at > releases[-1]]
    return _Story(releases, lent, min([reach, *unclear]), whole=not unclear and reach == function.body[1])


def _fate(text: bytes, use: Use, name: bytes) -> str:
    if use.kind == "dereference":
        before = text[max(0, use.at - 64) : use.at].rstrip(b" \t\r\n(")
        return "kept" if before.endswith(b"&") and not before.endswith(b"&&") else "used"
    if use.kind in ("test", "return"):
        return "used"
    if use.kind != "argument":
        return "used" if COMPARED.match(text, use.at + len(name)) else "kept"
    if RELEASES.search(use.callee):
        return "released"
    if use.callee in BORROWS or use.callee in TESTS:
        return "used"
    return "kept" if use.callee.isupper() or use.callee == b"for" or KEEPS.search(use.callee) else "lent"


def _leaks(site: Site, name: bytes, start: int, story: _Story) -> Iterator[Way]:
    text = site.source.text
    for way in ways_out(text, (start, story.end), story.releases):
        if way.kind in ("block", "end"):
            if not story.releases and _is_forgotten(site, name, way, story):
                yield way
        elif any(at < way.at for at in story.lent) and not _is_conditional(text, way):
            continue
        elif not _is_spared(site, name, way):
            yield way


def _is_forgotten(site: Site, name: bytes, way: Way, story: _Story) -> bool:
    """Return whether the variable goes out of scope at this exit, with its block or with the function."""
    text, function = site.source.text, site.function
    if function is None or way.kind == "end":
        return story.whole and _returns_nothing(site)
    declared = declaration(site, name)
    return declared is not None and text.count(b"{", declared[0], site.start) == text.count(
        b"}", declared[0], site.start
    )


def _returns_nothing(site: Site) -> bool:
    function = site.function
    if function is None:
        return False
    return RETURNS_NOTHING.search(site.source.text[max(0, function.start - 128) : function.start]) is not None


def _is_conditional(text: bytes, way: Way) -> bool:
    return any(CONDITIONAL.search(text, *head) for head in way.conditions)


def _is_spared(site: Site, name: bytes, way: Way) -> bool:
    """Return whether there is nothing to release at this exit, or the code after the jump releases the resource."""
    text, function = site.source.text, site.function
    if next(uses(text, name, *way.statement), None) is not None:
        return True
    if any(_tests(text, name, head) for head in way.conditions):
        return True
    if way.kind != "goto" or function is None:
        return False
    label = text.find(b"\n%b:" % way.label, way.at, function.body[1])
    label = label if label >= 0 else text.find(b" %b:" % way.label, way.at, function.body[1])
    if label < 0 or ENDS.search(text, label, function.body[1]):
        return True
    return next(uses(text, name, label, function.body[1]), None) is not None


def _tests(text: bytes, name: bytes, head: tuple[int, int]) -> bool:
    """Return whether a condition tests the resource: `if (!p)` or `if (fd < 0)`, not `if (read(fd, b, n) < 0)`."""
    return any(
        use.kind != "dereference" and (use.kind != "argument" or use.callee in TESTS) for use in uses(text, name, *head)
    )


def _weight(way: Way, story: _Story, site: Site) -> float:
    text = site.source.text
    moved = IN_MAIN if site.function and site.function.name == b"main" else 0.0
    moved += GIVEN_BACK_ELSEWHERE if any(at > way.at for at in story.releases) else 0.0
    moved += LENT if any(at < way.at for at in story.lent) else 0.0
    if way.kind in ("block", "end"):
        return moved
    failed = ERROR_VALUE.match(text, *way.statement) or (way.label and ERROR_LABEL.search(way.label))
    return moved + (ON_ERROR if failed else 0.0)


RULES: tuple[Rule, ...] = (rule("error_path_leak", check_leak, calls=tuple(name.decode() for name in ACQUIRES)),)
