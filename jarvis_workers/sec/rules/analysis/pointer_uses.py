"""Uses of a pointer after its assignment or release, and how likely control flow is to reach them."""

import re
from collections.abc import Iterator
from typing import NamedTuple, cast

from jarvis_workers.sec.rules.analysis.declarations import Assigned, Scope
from jarvis_workers.sec.rules.analysis.forward_paths import straight
from jarvis_workers.sec.rules.analysis.macros import definition_around
from jarvis_workers.sec.rules.analysis.mentions import next_mention, uses
from jarvis_workers.sec.rules.analysis.no_return import tokens
from jarvis_workers.sec.rules.rule import Site
from jarvis_workers.source.lazy_regex import lazy

CASTS_MAX = 4
STEP_REACH = 160
REACH, MENTIONS_MAX = 16_384, 96
SHOWN_REACH = 240
PATH = lazy(rb"\*?[A-Za-z_]\w*+(?>(?:->|\.|::)[A-Za-z_]\w*+|\[\w++\])*+\Z")
CAST = lazy(
    rb"\(\s*+(?>const\s++|struct\s++|unsigned\s++|volatile\s++)*+[A-Za-z_][\w:]*+\s*+(?>\*\s*+)++\)(?=\s*+[\w(*&])"
    rb"|(?:static|reinterpret|const)_cast\s*+<[^<>;]{1,80}+>(?=\s*+\()"
)
BASE = lazy(rb"\*?([A-Za-z_]\w*+)")
INDEX = lazy(rb"\[([A-Za-z_]\w*+)\]")
STEPPED = lazy(rb"\s*+(?:\+\+|--|[-+]=)")
# The third part of a `for` runs after the body.
IN_STEP = lazy(rb"\bfor\s*+\([^;{}]*+;[^;{}]*+;[^;{}]*+\Z")
RETURNS_MAX = 16
RETURNS = lazy(rb"_return\w*+\s*+\([^;{}]*+;\s*+[A-Za-z_]\w*+\s*+:(?!:)")
UNEVALUATED = lazy(
    rb"\b(?:[A-Z_][A-Z0-9_]{2,}+|struct_size|flex_array_size|container_of|\w*sizeof\w*+|\w*typeof\w*+)\s*+\([^;{}]*+\Z"
)
WHOLE = lazy(rb"\s*+=(?!=)")
MEMBER = lazy(rb"\s*+(?:->|\.|\[)")
DELETED = lazy(rb"\s*+(?>\[\s*+\]\s*+)?+")
# Upper-case names are macros, whose use of an argument is unknown.
MACRO = lazy(rb"[A-Z_][A-Z0-9_]*+\Z|\w*for_?each\w*+\Z|\w*FOREACH\w*+\Z|va_arg\Z|swap\Z|exchange\Z")

# Functions of the C library that dereference each pointer argument.
DEREFERENCING = frozenset(
    b"strlen strcpy strncpy strcat strncat stpcpy strlcpy strlcat strcmp strncmp strcasecmp strncasecmp "
    b"strcoll strchr strrchr strstr strpbrk strspn strcspn strtok strtok_r strsep strdup strndup memcpy "
    b"memmove memset memcmp memchr bcopy bzero bcmp wcslen wcscpy wcsncpy wcscat wcsncat wcscmp wmemset "
    b"wmemcpy atoi atol atoll atof strtol strtoul strtoll strtoull strtod sprintf snprintf vsprintf "
    b"vsnprintf sscanf swprintf puts fputs fgets fread fwrite fprintf fscanf vfprintf fgetc getc fputc "
    b"putc ungetc fseek ftell rewind fclose feof ferror fileno setvbuf setbuf getline getdelim fgetws "
    b"fputws readdir closedir rewinddir pclose strftime mktime asctime timegm opendir copy_from_user "
    b"copy_to_user __builtin_memcpy __builtin_memset __memcpy".split()
)
PRINTING = frozenset(
    b"printf fprintf sprintf snprintf vprintf printk pr_info pr_err pr_debug pr_warn dev_err dev_dbg "
    b"dev_info dev_warn syslog log debug trace g_print g_debug g_message wprintf swprintf fwprintf dprintf".split()
)
RELEASING = frozenset(
    b"free cfree kfree kvfree vfree zfree xfree kfree_sensitive kzfree kfree_const g_free av_free "
    b"OPENSSL_free CRYPTO_free sqlite3_free hi_free sdsfree je_free tfree mem_free PyMem_Free vPortFree "
    b"pvPortFree s_free efree delete".split()
)


class Mention(NamedTuple):
    """A use of the pointer: a kind of `Use`, or "lost" if the pointer may have changed."""

    kind: str
    at: int
    callee: bytes
    inner: int
    left: int


def values_before(site: Site, name: bytes) -> list[Assigned]:
    """Return the values that a pointer may have at the site, cached for several rules."""
    entry = site.source.cache.get("values")
    if not isinstance(entry, tuple) or entry[0] != (site.start, name):
        entry = (site.start, name), Scope(site).values(name)
        site.source.cache["values"] = entry
    return cast("list[Assigned]", entry[1])


def plain_pointer(expression: bytes) -> bytes | None:
    """Return the name of a pointer, such as `p`, `x->p` or `a[i]`, without casts and parentheses, else None."""
    expression = expression.strip()
    for _ in range(CASTS_MAX):
        if PATH.match(expression):
            return expression
        if cast := CAST.match(expression):
            expression = expression[cast.end() :].strip()
        elif expression[:1] == b"(" and expression[-1:] == b")" and expression.find(b")") == len(expression) - 1:
            expression = expression[1:-1].strip()
        else:
            break
    return expression if PATH.match(expression) else None


def released(site: Site) -> bytes:
    """Return the expression, in masked text, that a call or a `delete` releases."""
    if site.name != b"delete":
        return site.masked(0)
    text = site.source.text
    opened = DELETED.match(text, site.at)
    start = opened.end() if opened else site.at
    end = text.find(b";", start, start + 256)
    return text[start:end] if end >= 0 else b""


def follow(site: Site, name: bytes, start: int) -> Iterator[Mention]:
    """Yield the uses of a pointer in straight-line code from `start` to the end of the function."""
    function = site.function
    base = BASE.match(name)
    if function is None or base is None:
        return
    text, end = site.source.text, min(function.body[1], start + REACH)
    if next_mention(text, name, start, end) < 0:
        return
    end = _returned_by_macro(text, start, end)
    parts = [base[1], *INDEX.findall(name)]
    left = MENTIONS_MAX
    for stretch in straight(text, start, end, tokens(site.source)):
        mentions = _mentions(text, name, parts, (stretch.start, stretch.end))
        for at, kind, callee in mentions if parts == [name] else sorted(mentions):
            left -= 1
            if left < 0:
                return
            if kind != "assignment" and IN_STEP.search(text[max(start, at - STEP_REACH) : at]):
                continue
            if (definition := definition_around(text, at)) and definition.start() > start:
                continue
            yield Mention(kind, at, callee, stretch.inner, stretch.left)


def _returned_by_macro(text: bytes, start: int, end: int) -> int:
    """Return the offset at which a macro such as `debug_return_int(n);` returns before a label, else `end`."""
    at = text.find(b"_return", start, end)
    for _ in range(RETURNS_MAX):
        if at < 0:
            break
        if RETURNS.match(text, at, min(end, at + 256)) and text.count(b"{", start, at) == text.count(b"}", start, at):
            return at
        at = text.find(b"_return", at + 1, end)
    return end


def is_shown(site: Site, mention: Mention) -> bool:
    """Return whether the mention only prints the address."""
    start = max(site.at, mention.at - SHOWN_REACH)
    return mention.kind == "argument" and b"%p" in site.source.content[start : mention.at].rpartition(b";")[2]


def is_unevaluated(text: bytes, at: int) -> bool:
    """Return whether an operand may be unevaluated: inside `sizeof`, or a macro."""
    return UNEVALUATED.search(text[max(0, at - STEP_REACH) : at]) is not None


def _mentions(text: bytes, name: bytes, parts: list[bytes], span: tuple[int, int]) -> Iterator[tuple[int, str, bytes]]:
    for use in uses(text, name, *span):
        unknown = use.kind == "argument" and use.callee not in RELEASING and MACRO.match(use.callee)
        yield use.at, "lost" if unknown else use.kind, use.callee
    if parts[0] == name:
        return
    for part in parts:
        for use in uses(text, part, *span):
            if not _is_of(text, name, use.at, len(part)) and _loses(text, use.kind, use.at + len(part)):
                yield use.at, "lost", b""


def _is_of(text: bytes, name: bytes, at: int, length: int) -> bool:
    """Return whether a mention of a variable is only a part of the pointer's own expression."""
    floor = max(0, at - len(name))
    offset = text.find(name, floor, at + length + len(name))
    return 0 <= offset <= at < offset + len(name)


def _loses(text: bytes, kind: str, behind: int) -> bool:
    """Return whether a mention of `x` may change the value of `x->p`, as `*x = y` does."""
    if kind in ("assignment", "declaration", "address"):
        return True
    if STEPPED.match(text, behind, behind + 16) or (kind == "dereference" and WHOLE.match(text, behind, behind + 16)):
        return True
    return kind == "argument" and not MEMBER.match(text, behind, behind + 16)


# Pointers known to be NULL at a use: in the branch taken if they are NULL, or after `p = NULL`.

LEFT, BRANCH_MAX, NEXT_MAX = 128, 400, 4_096
SHAPES = (r"\(! ?[A-Za-z_][A-Za-z0-9_]*\)", r"== ?(?:NULL|nullptr)\)", r"= ?(?:NULL|nullptr);")
IN_BRANCH, BEHIND_BRANCH, ASSIGNED = 0.2, 0.0, 0.15
NEGATED = lazy(rb"\(! ?(\w++)\)")
NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.>-"
CONDITION = lazy(rb"\bif\s*+(?P<wrapped>\(\s*+unlikely\s*+)?\Z")
POINTED = lazy(rb"\w[ \t]*+\*+\Z")
OPENS = lazy(rb"\s*+(?>(?P<brace>\{))?+(?!\s*+(?:&&|\|\||[)?,=<>]))")
USED = lazy(rb"\s*+\)*+\s*+(?:->|\[)")
CALLED = lazy(rb"\b([A-Za-z_]\w*+)\s*+\(")
LEAVES = lazy(rb"\b(?:goto|return|break|continue|throw)\b")


def check_known_null(site: Site) -> float | None:
    text = site.source.text
    if text[site.start : site.start + 1] == b"(":
        return _negated(site)
    if text[site.start : site.start + 2] == b"==":
        return _compared(site)
    return _assigned(site)


def _negated(site: Site) -> float | None:
    """Check the branch of `if (!p)`."""
    text = site.source.text
    match = NEGATED.match(text, site.start)
    condition = _condition(text[max(0, site.start - 32) : site.start])
    return _in_branch(site, match[1], _behind(text, match.end(), condition)) if match and condition else None


def _compared(site: Site) -> float | None:
    """Check the branch of `if (p == NULL)`."""
    text = site.source.text
    name, rest = _name_before(text, site.start)
    condition = _condition(rest[:-1]) if rest.endswith(b"(") else None
    if condition is None:
        return None
    return _in_branch(site, name, _behind(text, text.find(b")", site.start) + 1, condition))


def _condition(before: bytes) -> re.Match[bytes] | None:
    return CONDITION.search(before) if before.rstrip().endswith((b"if", b"unlikely")) else None


def _name_before(text: bytes, at: int) -> tuple[bytes, bytes]:
    """Return the name that ends before an offset, and the text before that name."""
    before = text[max(0, at - LEFT) : at].rstrip()
    rest = before.rstrip(NAME_BYTES)
    return before[len(rest) :], rest.rstrip(b" \t")


def _behind(text: bytes, at: int, condition: re.Match[bytes]) -> int:
    """Return the start of the branch, or -1 if the condition continues."""
    if condition["wrapped"]:
        at = text.find(b")", at, at + 8) + 1
    opens = OPENS.match(text, at) if at else None
    return opens.end() if opens else -1


def _assigned(site: Site) -> float | None:
    text = site.source.text
    given, rest = _name_before(text, site.start)
    start = text.find(b";", site.start)
    if not given or not _is_used_next(text, given, start) or rest[-1:] in b"])":
        return None
    name = None if rest.endswith(b"*") and not POINTED.search(rest) else plain_pointer(given)
    if name is None or site.function is None:
        return None
    for mention in follow(site, name, start):
        if mention.kind == "dereference" and not (mention.left or mention.inner or is_unevaluated(text, mention.at)):
            return ASSIGNED
        if mention.kind != "other":
            return None
    return None


def _is_used_next(text: bytes, name: bytes, start: int) -> bool:
    """Return whether the next mention dereferences the name (a quick test that rejects most sites)."""
    at = next_mention(text, name, start, start + NEXT_MAX)
    return at >= 0 and (text[at - 1 : at] == b"*" or USED.match(text, at + len(name)) is not None)


def _in_branch(site: Site, expression: bytes, start: int) -> float | None:
    text = site.source.text
    name = plain_pointer(expression)
    if start < 0 or name is None or not _is_worth_following(text, name, start) or site.function is None:
        return None
    for mention in follow(site, name, start):
        use = _used(text, mention)
        if use is None:
            return None
        if use:
            return _weighed(text, start, mention)
    return None


def _is_worth_following(text: bytes, name: bytes, start: int) -> bool:
    """Return whether the branch mentions the name or falls through (a quick test: most branches just exit)."""
    braced = text[start - 1 : start] == b"{"
    end = text.find(b"}" if braced else b";", start, start + BRANCH_MAX)
    if end < 0 or next_mention(text, name, start, end) >= 0:
        return True
    return braced and _only_tells(text, start, end + 1)


def _weighed(text: bytes, start: int, mention: Mention) -> float | None:
    if mention.left == 0:
        return IN_BRANCH - (0.05 if mention.inner else 0.0)
    only_tells = mention.left == 1 and mention.inner == 0 and _only_tells(text, start, mention.at)
    return BEHIND_BRANCH if only_tells else None


def _used(text: bytes, mention: Mention) -> bool | None:
    if mention.kind == "dereference":
        return None if is_unevaluated(text, mention.at) else True
    if mention.kind == "argument":
        return True if mention.callee in DEREFERENCING - PRINTING else False if mention.callee in PRINTING else None
    return False if mention.kind in ("other", "test") else None


def _only_tells(text: bytes, start: int, end: int) -> bool:
    """Return whether the branch only prints something: it neither leaves the function nor changes anything."""
    branch = text[start : text.find(b"}", start, end)] if text.find(b"}", start, end) >= 0 else b""
    called = CALLED.findall(branch)
    return bool(called) and PRINTING.issuperset(called) and b"=" not in branch and not LEAVES.search(branch)
