"""malloc_no_null_check and possible_null_deref: a pointer that may be NULL is used before it is tested."""

import re
from collections.abc import Iterator

from jarvis_workers.sec.rules.analysis.facts import is_in_file
from jarvis_workers.sec.rules.analysis.forward_paths import is_conditional
from jarvis_workers.sec.rules.analysis.mentions import is_declaration, statement_before, uses
from jarvis_workers.sec.rules.analysis.pointer_uses import (
    DEREFERENCING,
    PRINTING,
    RELEASING,
    SHAPES,
    Mention,
    check_known_null,
    follow,
    is_shown,
    plain_pointer,
)
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

NAME = lazy(rb"[A-Za-z_]\w*+\Z")
LEFT, REACH, ALIASES_MAX = 128, 16_384, 8
CERTAIN, PASSED, COMPUTED = 0.15, -0.2, 0.0
KNOWN_NULL = 0.2
ALIAS_BEFORE = lazy(rb"([A-Za-z_]\w*+(?>(?:->|\.)\w++|\[[\w \t.>+-]{1,32}+\])*+)\s*+=\s*+\Z")
ALIAS_BEHIND = lazy(rb"\s*+[;,)]")
FIRST = lazy(rb"\(\s*+(?>\([^()]*+\)\s*+)?+\Z")
STEP = lazy(rb"\s*+(?:\+\+|--|[-+]=?(?!>)\s*+[\w(])")
STEP_BEFORE = lazy(rb"(?:\+\+|--)\s*+\Z")
DIRECT = lazy(rb"\s*+\)*+\s*+(?:->|\[)")
STAR = lazy(rb"(?:\A|[=(,;{}!&|?:<>+-])\s*+\*\s*+(?>\(\s*+[A-Za-z_][\w\s]*+\*[\s*]*+\)\s*+)?+\Z|\breturn\s*+\*\s*+\Z")
ADDED = lazy(rb"\s*+\)?\s*+[-+]\s*+[\w(]")
NULL_IN_FRONT = lazy(rb"\b(?:NULL|nullptr)\s*+[!=]=\s*+\(\s*+[\w.>\[\]-]++\s*+=\s*+\Z")
HANDED = lazy(rb"\b([A-Za-z_]\w*+)\s*+\(\s*+[A-Za-z_][\w.>\[\]-]*+\s*+=\s*+(?>\(\s*+[A-Za-z_][\w\s*]*+\)\s*+)?+\Z")
NO_CALLS = frozenset((b"if", b"while", b"for", b"switch", b"return"))
TYPED = lazy(rb"\s*+<[^;{}()]{1,128}?\*\s*+(?:const\s*+)?>\s*+(?=\()")
NOTHROW = lazy(rb"\s*+\)\s*+[A-Za-z_][\w:<>,* ]{0,80}")
NEW_BEFORE = lazy(rb"\bnew\s*+\(\s*+(?:std\s*+::\s*+)?\Z")
STATEMENT_MAX = 256
IN_CONDITION = lazy(rb"\b(?:if|while)\s*+\([^;{}]*\Z|&&\s*+\Z")
CANNOT_FAIL = lazy(rb"__GFP_NOFAIL|GFP_NOFAIL")
FAILS = lazy(rb"#[ \t]*+define[ \t]++(?:malloc|calloc|realloc|strdup)\b")
# The condition of the loop tests what its step assigns, before the body runs again.
LOOP_STEP, LOOP_HEAD_MAX = lazy(rb"\bfor\s*\([^{};]*;(?>[^{};]*);[^{};]*=\s*(?:\([\w\s*]+\)\s*)?\Z"), 256
COPYING = lazy(rb"\b(?:if|while)\s*+\([^;{}]*\Z")

ALLOCATING = tuple(
    name.decode()
    for name in (
        b"malloc calloc realloc reallocarray strdup strndup wcsdup aligned_alloc memalign valloc pvalloc _strdup "
        b"_wcsdup _aligned_malloc kmalloc kzalloc kcalloc kmalloc_array krealloc kstrdup kstrndup kmemdup "
        b"kmemdup_nul kmalloc_node kzalloc_node vmalloc vzalloc kvmalloc kvzalloc kvcalloc kvmalloc_array "
        b"kmem_cache_alloc kmem_cache_zalloc kasprintf kvasprintf devm_kmalloc devm_kzalloc devm_kcalloc "
        b"devm_kmalloc_array devm_kstrdup devm_kmemdup devm_kasprintf alloc_skb dev_alloc_skb netdev_alloc_skb "
        b"skb_clone skb_copy dma_alloc_coherent alloc_workqueue usb_alloc_urb g_try_malloc g_try_malloc0 "
        b"g_try_realloc g_try_new g_try_new0 HeapAlloc LocalAlloc GlobalAlloc VirtualAlloc CoTaskMemAlloc "
        b"sqlite3_malloc av_malloc av_mallocz av_calloc OPENSSL_malloc OPENSSL_zalloc CRYPTO_malloc PyMem_Malloc "
        b"PyObject_Malloc pvPortMalloc ztrymalloc ztrycalloc ztryrealloc hi_malloc hi_calloc hi_strdup je_malloc"
    ).split()
)
# Confidence adjustment for each function that may return NULL, and the weight of passing that NULL on.
SEARCHES = dict.fromkeys(
    b"strchr strrchr strstr strpbrk strcasestr memchr memmem wcschr wcsrchr wcsstr strtok strtok_r".split(), 0.0
)
# strsep never returns NULL for a string that is not NULL.
SEARCHES[b"strsep"] = -0.2
# Most table lookups are for keys that were inserted before.
TABLES = {b"g_hash_table_lookup": -0.1}
FILES = dict.fromkeys(
    b"fopen fopen64 fdopen freopen tmpfile popen _popen opendir fdopendir fmemopen open_memstream dlopen".split(), 0.05
)
CALENDAR = dict.fromkeys(b"localtime gmtime ctime localtime_r gmtime_r".split(), -0.25)
LOOKUPS = {
    **SEARCHES,
    **TABLES,
    **FILES,
    **dict.fromkeys(b"getenv secure_getenv bsearch lfind readdir getlogin ttyname dlsym".split(), 0.0),
    **CALENDAR,
    b"asctime": -0.25,
    **dict.fromkeys(
        b"getpwnam getpwuid getgrnam getgrgid getspnam gethostbyname gethostbyaddr getservbyname getservbyport "
        b"getprotobyname inet_ntop if_indextoname getmntent".split(),
        0.05,
    ),
    **dict.fromkeys(
        b"of_get_property of_match_device of_match_node platform_get_resource find_vma idr_find "
        b"radix_tree_lookup xa_load dev_get_by_name dev_get_by_index nla_find usb_ifnum_to_if pci_get_device "
        b"i2c_get_adapter of_find_node_by_name of_find_compatible_node of_get_child_by_name ioremap of_iomap "
        b"list_first_entry_or_null skb_header_pointer".split(),
        -0.1,
    ),
    **dict.fromkeys(
        b"cJSON_GetObjectItem cJSON_GetObjectItemCaseSensitive cJSON_Parse cJSON_GetArrayItem json_object_get "
        b"json_object_object_get xmlGetProp xmlDocGetRootElement sqlite3_column_text g_strrstr "
        b"g_getenv EVP_get_digestbyname EVP_get_cipherbyname X509_get_subject_name".split(),
        0.0,
    ),
}


def check_allocation(site: Site) -> float | None:
    """Check for memory that is used, or passed on, before the allocation is tested."""
    if site.function is None or _cannot_fail(site):
        return None
    if site.name == b"nothrow":
        made = _new_nothrow(site)
        return _first_use(*made, passes=True) if made else None
    return _first_use(site, site.arguments.end, passes=True)


def check_lookup(site: Site) -> float | None:
    """Check for the use of a result that is NULL if nothing was found, or of a pointer that is known to be NULL."""
    if not site.name:
        return check_known_null(site)
    if site.function is None or is_declaration(statement_before(site.before(STATEMENT_MAX)).rstrip() + b" "):
        return None
    if site.name == b"dynamic_cast":
        cast = _cast(site)
        is_new = cast is not None and not _is_cast_before(site, cast)
        return _first_use(cast, cast.arguments.end, passes=False) if cast and is_new else None
    delta = _first_use(site, site.arguments.end, passes=site.name in FILES)
    if delta is None or (site.name in SEARCHES and _is_repeated_search(site)) or site.masked(0).strip() == b"RTLD_NEXT":
        return None
    if (site.name in CALENDAR and _is_of_now(site)) or LOOP_STEP.search(site.before(LOOP_HEAD_MAX)):
        return None
    return delta + LOOKUPS[site.name] - (KNOWN_NULL if site.name in SEARCHES and _was_looked_for(site) else 0.0)


def _is_cast_before(site: Site, cast: Site) -> bool:
    """Return whether the same cast is part of a condition just before."""
    text, end = site.source.text, cast.arguments.end or site.start
    at = text.rfind(text[site.start : end], max(0, site.start - STATEMENT_MAX), site.start)
    return at >= 0 and IN_CONDITION.search(text, max(0, at - STATEMENT_MAX), at) is not None


def _is_of_now(site: Site) -> bool:
    """Return whether the function converts the current time, which fits until the year 2147485547."""
    name = site.masked(0).strip().removeprefix(b"&").strip()
    if not NAME.match(name):
        return False
    given = re.compile(rb"(?<![\w.>])%b\s*=\s*time\s*\(|\btime\s*\(\s*&\s*%b\s*\)" % (name, name))
    start = site.function.body[0] if site.function else site.start
    return given.search(site.source.text, max(start, site.start - REACH), site.start) is not None


def _is_repeated_search(site: Site) -> bool:
    """Return whether the same call occurs earlier, usually in a test, or the call searches for the terminating NUL."""
    content, end = site.source.content, site.arguments.end
    if site.original(1).strip() in (b"'\\0'", b"0", b"L'\\0'"):
        return True
    start = max(site.function.body[0] if site.function else site.start, site.start - REACH)
    return end is not None and content.find(content[site.start : end], start, site.start) >= 0


def _was_looked_for(site: Site) -> bool:
    """Return whether the searched text occurs earlier: in `if (strchr(s, ':'))`, in a prefix, or in printed text."""
    key = site.original(1).strip()
    start = max(site.function.body[0] if site.function else site.start, site.start - REACH)
    if key[:1] not in (b"'", b'"'):
        return False
    content = site.source.content
    if content.find(key, start, site.start) >= 0:
        return True
    if content.find(b"cmp", start, site.start) < 0:
        return False
    prefix = re.compile(rb'\bstrn?(?:case)?cmp\s*\([^;"]{0,80}"[^"\n]*' + re.escape(key[1:-1]))
    return prefix.search(content, start, site.start) is not None


def _cannot_fail(site: Site) -> bool:
    if is_in_file(site, FAILS) and site.name in (b"malloc", b"calloc", b"realloc", b"strdup"):
        return True
    end = site.arguments.end
    return end is not None and CANNOT_FAIL.search(site.source.text, site.at, end) is not None


def _first_use(site: Site, end: int | None, *, passes: bool) -> float | None:
    if end is None:
        return None
    result = site.result
    if site.name in SEARCHES and ADDED.match(site.source.text, end, end + 32):
        return COMPUTED
    if result.kind == "assigned":
        name = None if result.tested or _is_tested_in_front(site) else plain_pointer(result.target)
        return _followed(site, name, end, passes=passes) if name else None
    if result.kind == "passed":
        return _passed_on(site)
    return _direct(site, end) if result.kind in ("other", "ignored") else None


def _is_tested_in_front(site: Site) -> bool:
    """Return whether the result is tested in an enclosing expression: `if (NULL == (p = f()))`, `CHECK(p = f())`."""
    before = site.source.text[max(0, site.start - LEFT) : site.start]
    before = before[max(before.rfind(b";"), before.rfind(b"{"), before.rfind(b"}")) + 1 :]
    if b"(" not in before:
        return False
    handed = HANDED.search(before)
    return NULL_IN_FRONT.search(before) is not None or (handed is not None and handed[1] not in NO_CALLS)


def _passed_on(site: Site) -> float | None:
    text, start = site.source.text, site.start
    called = text[start : site.at].rstrip()
    callee = next((use.callee for use in uses(text, called, start, start + len(called))), b"")
    return CERTAIN - 0.05 if callee in DEREFERENCING and _counts(text, callee, start) else None


def _direct(site: Site, end: int) -> float | None:
    """Check for a result that is dereferenced in place: `*f()`, `f()->x`, `f()[0]`, `f() + 1`."""
    text = site.source.text
    before = text[max(0, site.start - LEFT) : site.start]
    if STAR.search(before) or DIRECT.match(text, end, end + 32):
        return CERTAIN
    starred = before.rstrip().endswith(b"*") and before.rstrip(b"* \t\r\n").endswith(b")")
    return CERTAIN if starred and is_conditional(text, site.start) else None


def _followed(site: Site, name: bytes, end: int, *, passes: bool) -> float | None:
    text = site.source.text
    aliases = list(_chained(text, site.start))
    passed: float | None = None
    for mention in follow(site, name, end):
        delta = 0.0 if is_shown(site, mention) else _used(site, mention, name, passes=passes)
        if delta is None:
            return None if mention.kind == "test" else passed
        if delta == 1.0 + PASSED:
            passed = _weighed(delta, mention) if passed is None else passed
        elif delta:
            tested = any(_is_tested(text, alias, end, mention.at) for alias in aliases)
            return None if tested else _weighed(delta, mention)
        if len(aliases) < ALIASES_MAX and (alias := _alias(text, name, mention)):
            aliases.append(alias)
    return passed


def _weighed(delta: float, mention: Mention) -> float:
    """Lower the confidence for a mention in another block, which may depend on the same condition as the call."""
    moved = delta - 1.0
    if mention.left:
        moved -= 0.1
    return moved - (0.05 if mention.inner else 0.0)


def _used(site: Site, mention: Mention, name: bytes, *, passes: bool) -> float | None:
    """Return 0 for a harmless mention, 1 plus the confidence adjustment for a use, None to end the search."""
    if mention.kind == "dereference":
        return 0.0 if _is_element_address(site.source.text, mention.at, len(name)) else 1.0 + CERTAIN
    if mention.kind == "argument":
        return _passed(site, mention, passes=passes)
    if mention.kind == "other":
        return 1.0 + COMPUTED if site.name in SEARCHES and _computes(site.source.text, mention.at, len(name)) else 0.0
    return None


def _passed(site: Site, mention: Mention, *, passes: bool) -> float | None:
    text = site.source.text
    if mention.callee in RELEASING and mention.callee != b"realloc":
        return None
    if mention.callee in DEREFERENCING:
        return 1.0 + CERTAIN if _counts(text, mention.callee, mention.at) else 0.0
    if mention.callee in PRINTING:
        return 0.0
    if COPYING.search(text[max(0, mention.at - LEFT) : mention.at]) or not passes:
        return None
    return 1.0 + PASSED


def _counts(text: bytes, callee: bytes, at: int) -> bool:
    """Return whether an argument must not be NULL: in printing functions, only the stream or the buffer."""
    return callee not in PRINTING or FIRST.search(text[max(0, at - 64) : at]) is not None


def _is_element_address(text: bytes, at: int, length: int) -> bool:
    """Return whether a mention is `&p[n]`, which dereferences nothing."""
    before = text[max(0, at - 8) : at].rstrip()
    return text[at + length : at + length + 1] == b"[" and before.endswith(b"&") and not before.endswith(b"&&")


def _computes(text: bytes, at: int, length: int) -> bool:
    return bool(STEP.match(text, at + length) or STEP_BEFORE.search(text[max(0, at - 8) : at]))


def _chained(text: bytes, start: int) -> Iterator[bytes]:
    """Yield the other targets of `a = b = f()`."""
    before = text[max(0, start - LEFT) : start]
    before = before[max(before.rfind(b";"), before.rfind(b"{"), before.rfind(b"}")) + 1 :]
    targets = before.split(b"=")
    if len(targets) > 2:
        yield from (name for name in map(plain_pointer, targets[:-2]) if name)


def _alias(text: bytes, name: bytes, mention: Mention) -> bytes | None:
    if mention.kind != "other" or not ALIAS_BEHIND.match(text, mention.at + len(name)):
        return None
    match = ALIAS_BEFORE.search(text[max(0, mention.at - LEFT) : mention.at])
    return match[1] if match else None


def _is_tested(text: bytes, name: bytes, start: int, end: int) -> bool:
    return any(use.kind == "test" for use in uses(text, name, start, end))


def _new_nothrow(site: Site) -> tuple[Site, int] | None:
    text = site.source.text
    before = NEW_BEFORE.search(text[max(0, site.start - 32) : site.start])
    behind = NOTHROW.match(text, site.at, site.at + 128)
    if before is None or behind is None:
        return None
    start = site.start - (before.end() - before.start())
    end = text.find(b";", behind.end(), behind.end() + 256)
    return (Site(site.source, b"new", start, start + 3), end) if end >= 0 else None


def _cast(site: Site) -> Site | None:
    typed = TYPED.match(site.source.text, site.at)
    return Site(site.source, site.name, site.start, typed.end()) if typed else None


RULES: tuple[Rule, ...] = (
    rule("malloc_no_null_check", check_allocation, calls=ALLOCATING, words=("nothrow",)),
    rule(
        "possible_null_deref",
        check_lookup,
        calls=tuple(name.decode() for name in LOOKUPS),
        words=("dynamic_cast",),
        shapes=SHAPES,
    ),
)
