"""malloc_free_mismatch: memory from one allocator is released by another."""

from jarvis_workers.sec.rules.analysis.facts import defines
from jarvis_workers.sec.rules.analysis.forward_paths import branch_has_ended
from jarvis_workers.sec.rules.analysis.pointer_uses import plain_pointer, released, values_before
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

WRITERS_MAX, NAMES_MAX = 24, 256
CONDITION_REACH = 160
CAST = lazy(
    rb"\s*+(?:\(\s*+[A-Za-z_][\w\s:]*+(?><[^<>;]{0,64}>\s*+)?+[\s*]*+\)(?=\s*+[\w(:])"
    rb"|(?:static|reinterpret|const)_cast\s*+<[^;]{1,80}?>\s*+\()\s*+"
)
CALL = lazy(rb"(?:::|std\s*+::)?\s*+([A-Za-z_]\w*+)\s*+(?:<[^<>;]{1,64}>)?\s*+\(")
STARRED = lazy(rb"[\s(]*+\*\s*+[A-Za-z_]")
NEW = lazy(
    rb"(?:::\s*+)?new\b\s*+(?>\(\s*+(?:std\s*+::\s*+)?nothrow\s*+\)\s*+)?+"
    rb"(?P<type>[A-Za-z_][^;()[\]{}]*+)(?P<many>\[)?"
)
NOTHING = lazy(rb"\(*+(?>\(\s*void\s*\*\s*\)\s*)?+(?:NULL|nullptr|0)\)*+\Z")
MEMBER = lazy(rb"(?:this\s*+->\s*+)?([A-Za-z_]\w*_|m_\w++|_\w++)\Z")
ASSIGNMENT = lazy(rb"\s*+=(?!=)\s*+([^;]{1,160}+);")

# By family: allocation functions, and the functions that may release their memory.
FAMILIES: dict[str, tuple[bytes, bytes]] = {
    "malloc": (
        b"malloc calloc realloc reallocarray strdup strndup wcsdup aligned_alloc memalign valloc _strdup",
        b"free cfree xfree g_free je_free",
    ),
    "new": (b"", b"delete"),
    "new[]": (b"", b"delete[]"),
    "kmalloc": (
        b"kmalloc kzalloc kcalloc kmalloc_array kmalloc_node kzalloc_node krealloc kstrdup kstrndup kmemdup kasprintf",
        b"kfree kvfree kfree_sensitive kzfree kfree_const kfree_rcu",
    ),
    "vmalloc": (b"vmalloc vzalloc vmalloc_user vmalloc_node vzalloc_node vmalloc_32", b"vfree kvfree vfree_atomic"),
    "kvmalloc": (b"kvmalloc kvzalloc kvcalloc kvmalloc_array kvmalloc_node kvzalloc_node", b"kvfree kvfree_sensitive"),
    "devm": (
        b"devm_kmalloc devm_kzalloc devm_kcalloc devm_kmalloc_array devm_kstrdup devm_kmemdup devm_kasprintf",
        b"devm_kfree",
    ),
    "FILE": (b"fopen fdopen freopen tmpfile fmemopen open_memstream fopen64", b"fclose"),
    "pipe": (b"popen _popen", b"pclose _pclose"),
    "DIR": (b"opendir fdopendir", b"closedir"),
    "mmap": (b"mmap mmap64", b"munmap"),
    "glib": (b"g_malloc g_malloc0 g_new g_new0 g_strdup g_strndup g_strdup_printf g_realloc", b"g_free free"),
    "slice": (b"g_slice_alloc g_slice_alloc0 g_slice_new g_slice_new0", b"g_slice_free g_slice_free1"),
    "zmalloc": (b"zmalloc zcalloc zrealloc zstrdup ztrymalloc ztrycalloc ztryrealloc", b"zfree"),
    "sds": (b"sdsnew sdsnewlen sdsempty sdsdup sdscatprintf sdscatlen sdscat sdsfromlonglong", b"sdsfree"),
    "av": (b"av_malloc av_mallocz av_calloc av_strdup av_realloc av_malloc_array", b"av_free av_freep"),
    "OpenSSL": (b"OPENSSL_malloc OPENSSL_zalloc OPENSSL_strdup CRYPTO_malloc", b"OPENSSL_free CRYPTO_free"),
    "SQLite": (b"sqlite3_malloc sqlite3_malloc64 sqlite3_mprintf sqlite3_realloc", b"sqlite3_free"),
    "Python": (b"PyMem_Malloc PyMem_Calloc PyMem_Realloc", b"PyMem_Free PyMem_Del"),
    "Python objects": (b"PyObject_Malloc PyObject_Calloc", b"PyObject_Free PyObject_Del"),
    "aligned": (b"_aligned_malloc _aligned_realloc", b"_aligned_free"),
    "mm": (b"_mm_malloc", b"_mm_free"),
    "HeapAlloc": (b"HeapAlloc HeapReAlloc", b"HeapFree"),
    "LocalAlloc": (b"LocalAlloc", b"LocalFree"),
    "GlobalAlloc": (b"GlobalAlloc", b"GlobalFree"),
    "VirtualAlloc": (b"VirtualAlloc", b"VirtualFree"),
    "COM": (b"CoTaskMemAlloc", b"CoTaskMemFree"),
    "BSTR": (b"SysAllocString SysAllocStringLen", b"SysFreeString"),
    "FreeRTOS": (b"pvPortMalloc", b"vPortFree"),
}
GIVERS = {name: family for family, (givers, _) in FAMILIES.items() for name in givers.split()}
TAKERS = {
    name: {family for family, (_, takers) in FAMILIES.items() if name in takers.split()}
    for _, takers in FAMILIES.values()
    for name in takers.split()
}
PLACES = {b"devm_kfree": 1, b"g_slice_free": 1, b"g_slice_free1": 1, b"HeapFree": 2}
# glib uses malloc on most systems, and the wrong delete rarely harms arrays of plain types.
SOFT = {("glib", b"free"): -0.2, ("malloc", b"g_free"): -0.2, ("new[]", b"delete"): -0.05}


def check_pair(site: Site) -> float | None:
    taker = _taker(site)
    index = PLACES.get(site.name, 0)
    name = plain_pointer(site.masked(index) if index else released(site))
    if site.function is None or name is None or STARRED.match(site.masked(index)):
        return None
    families = _families(site, name)
    if not families or defines(site, site.name):
        return None
    if b"is_vmalloc_addr" in site.before(CONDITION_REACH):
        return None
    if families & TAKERS.get(taker, set()):
        return None
    return min((SOFT.get((family, taker), 0.0) for family in families), default=0.0)


def _taker(site: Site) -> bytes:
    if site.name != b"delete":
        return site.name
    return b"delete[]" if site.source.text[site.at : site.at + 16].lstrip()[:1] == b"[" else b"delete"


def _families(site: Site, name: bytes) -> set[str]:
    """Return the allocator families of the pointer's values; empty if a value is unknown, or of some builds only."""
    before = values_before(site, name)
    if any(branch_has_ended(site.source.text, value.at, site.start) for value in before):
        return set()
    values = [value.text for value in before] or _member_values(site, name)
    match = {_family(value) for value in values if not NOTHING.match(value)}
    return {family for family in match if family} if None not in match else set()


def _family(value: bytes) -> str | None:
    while (casted := CAST.match(value)) and casted.end():
        value = value[casted.end() :]
    if made := NEW.match(value):
        if made["many"]:
            return "new[]"
        return "new" if value[made.end("type") :].lstrip()[:1] in (b"", b"(", b"{", b")") else None
    call = CALL.match(value)
    return GIVERS.get(call[1]) if call else None


def _member_values(site: Site, name: bytes) -> list[bytes]:
    """Return all values that the file assigns to a class member; empty for other names."""
    member = MEMBER.match(name)
    cache: dict[bytes, list[bytes]] = site.source.once("member values", dict)
    if member is None:
        return []
    if member[1] not in cache and len(cache) < NAMES_MAX:
        cache[member[1]] = _assigned_values(site.source.text, member[1])
    return cache.get(member[1], [])


def _assigned_values(text: bytes, name: bytes) -> list[bytes]:
    result: list[bytes] = []
    at = 0
    for _ in range(WRITERS_MAX):
        at = text.find(name, at)
        if at < 0:
            return result
        before = text[max(0, at - 1) : at]
        at += len(name)
        match = ASSIGNMENT.match(text, at, at + 200) if not before.isalnum() and before != b"_" else None
        if match:
            result.append(match[1].strip())
    return []


RULES: tuple[Rule, ...] = (
    rule(
        "malloc_free_mismatch",
        check_pair,
        calls=tuple(name.decode() for name in TAKERS if name not in (b"delete", b"delete[]")),
        words=("delete",),
    ),
)
