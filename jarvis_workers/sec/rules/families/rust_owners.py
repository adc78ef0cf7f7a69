"""into_raw_leak and static_mut: values that nobody owns any more, and those that everybody does."""

from jarvis_workers.sec.rules.analysis.rust_context import is_of_tests, softened
from jarvis_workers.sec.rules.families.rust_memory import is_within_extern
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

FOREIGN, OF_METHOD = -0.05, -0.05
STATEMENT = 512
SHARED, SYNCHRONIZED = 0.1, -0.1
STATIC = lazy(rb"\s+mut\s+(\w+)\s*:\s*(?P<type>[^=;{}]{1,256}(?:;[^=;{}]{1,64})?)=")
CALLED = lazy(rb"\s*+\(")
DEFINED = lazy(rb"\bfn\s+\Z")
OWNER = lazy(rb"\b(Box|Rc|Arc|Weak|CString)\s*(?:::\s*<(?:[^<>;]|<[^<>;]{0,64}>){0,128}>\s*)?::\s*\Z")
METHOD = lazy(rb"\.\s*\Z")
MADE = lazy(rb"\b(?:CString|Box|Rc|Arc)\b[^;{}]*\Z")
FOREIGN_FUNCTION = lazy(rb'\bextern\s*(?:"\s*"\s*)?fn\s+\w')
TAKEN_BACK = lazy(rb"\bfrom_raw(?!_parts)\w*\b|\bdrop_in_place\b|\bdealloc\b|\bdecrement_strong_count\b")
# The function that takes the pointer also takes the one that frees it.
RELEASED = lazy(rb"\bSome\s*\(\s*(?:\w+\s*::\s*)*\w*(?:free|drop|destroy|dealloc|release|finali[sz]e|delete)\w*\b")
GUARDS = lazy(rb"\b(?:Once|OnceLock|OnceCell|Mutex|RwLock|ReentrantMutex)\b|\bcall_once\b|\.\s*lock\s*\(")
THREAD_LOCAL = lazy(rb"#\s*\[\s*thread_local\s*\]\s*(?:pub\s+)?\Z")
THREADS = lazy(rb"\bthread\s*::|\bspawn\s*\(|\bSync\b|\brayon\b|\bpub\s+fn\b|\bextern\s*\"")


def check_static(site: Site) -> float | None:
    """Raise the confidence if the file has threads or public functions, lower it for locks and `Once`."""
    text = site.source.text
    match = STATIC.match(text, site.at, site.at + 512)
    if match is None or is_within_extern(site) or is_of_tests(site):
        return None
    if THREAD_LOCAL.search(text[max(0, site.start - 64) : site.start]) or text.count(match[1]) < 2:
        return None
    moved = SYNCHRONIZED if GUARDS.search(text) else SHARED if THREADS.search(text) else 0.0
    return moved + softened(site)


def check_into_raw(site: Site) -> float | None:
    """Report `into_raw` if the file never makes an owner of a pointer again; another file may do so."""
    text = site.source.text
    before = text[max(0, site.start - 160) : site.start]
    if DEFINED.search(before) or is_of_tests(site):
        return None
    owner = OWNER.search(before)
    if not CALLED.match(text, site.at, site.at + 64) or TAKEN_BACK.search(text):
        return None
    if RELEASED.search(_rest_of_statement(text, site.at)):
        return None
    if owner is None and not (METHOD.search(before) and MADE.search(before)):
        return None
    return (FOREIGN if FOREIGN_FUNCTION.search(text) else 0.0 if owner else OF_METHOD) + softened(site)


def _rest_of_statement(text: bytes, at: int) -> bytes:
    return text[at : at + STATEMENT].partition(b";")[0]


RULES: tuple[Rule, ...] = (
    rule("static_mut", check_static, words=("static",)),
    rule("into_raw_leak", check_into_raw, words=("into_raw",)),
)
