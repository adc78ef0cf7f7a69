"""unchecked_io and pthread_returns_unchecked: calls that can fail and whose result is ignored.

A cast to void is deliberate, and a result that is mentioned again counts as checked.
"""

import re
from itertools import chain

from jarvis_workers.sec.rules.analysis.buffer_sizes import BufferSizes
from jarvis_workers.sec.rules.analysis.facts import declaration, is_in_file, target_at
from jarvis_workers.sec.rules.analysis.mentions import uses
from jarvis_workers.sec.rules.rule import REACH, Rule, Site, rule
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

NEVER_READ, AS_INDEX, HAS_A_VALUE = -0.1, 0.1, -0.25
FAILURE_VALUE = lazy(rb"\w++\s*+=\s*+-\s*+\d++\s*+;")
MENTIONS_MAX = 16
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
MESSAGES = lazy(rb"\A(?:std(?:out|err)|STD(?:OUT|ERR)_FILENO|[12])\Z|err(?:or)?(?:_?fd|_?file)?\Z|log|dbg|debug|trace")
FAILED = lazy(
    rb"\s*;(?:[^;{}()]{0,80}+;)?\s*(?:goto|return\s*\(?\s*(?:-|NULL|nullptr|false|FALSE|\w*ERR|\w*FAIL|1\s*[;)]))"
)
WRITES = frozenset(b"fwrite fprintf fputs fputc putc vfprintf putw".split())
WAKES_UP = lazy(rb"1|sizeof\b.*|8")
# Lists also have a function `remove`.
OF_A_FILE = lazy(rb'"|file|path|name|te?mp|log|lock|pid', re.IGNORECASE)
FAILURE_MAX = 160
SAVES_ERROR = lazy(rb"=\s*errno\s*;")
GIVES_UP = lazy(rb"\s*;\s*(?:_?_?exit|_Exit|abort)\s*\(")

# Severity of an ignored failure, and number of arguments for functions whose names may also belong to others.
PRIVILEGES = (
    b"setuid setgid seteuid setegid setreuid setregid setresuid setresgid setgroups initgroups chroot "
    b"capset cap_set_proc ImpersonateNamedPipeClient RpcImpersonateClient ImpersonateLoggedOnUser "
    b"ImpersonateSelf SetThreadToken RevertToSelf"
).split()
INTO_MEMORY = (
    b"read pread pread64 _read fread recv recvfrom readv fgets fgetws readlink getcwd _getcwd _wgetcwd".split()
)
CONVERTED = b"scanf fscanf sscanf wscanf fwscanf swscanf".split()
LASTING = (
    b"rename renameat ftruncate truncate ftruncate64 pipe pipe2 socketpair bind listen mprotect chdir fchdir".split()
)
ALLOWED = b"chmod fchmod fchmodat chown fchown lchown fchownat".split()
OUT_OF_MEMORY = b"write pwrite pwrite64 fwrite writev send sendto".split()
WHERE = (
    b"fseek fseeko lseek lseek64 fsetpos dup2 dup3 fsync fdatasync link symlink mkdir mkfifo setrlimit mlock".split()
)
MOVED: dict[bytes, float] = {
    **dict.fromkeys(PRIVILEGES, 0.25),
    **dict.fromkeys(INTO_MEMORY, 0.1),
    **dict.fromkeys(CONVERTED, 0.15),
    **dict.fromkeys(LASTING, 0.05),
    **dict.fromkeys(ALLOWED, 0.0),
    **dict.fromkeys(OUT_OF_MEMORY, -0.05),
    **dict.fromkeys(WHERE, -0.15),
    b"copy_from_user": 0.25,
    b"copy_to_user": 0.2,
    b"chroot": 0.25,
    b"fclose": -0.2,
    b"remove": -0.15,
}
COUNTS: dict[bytes, tuple[int, ...]] = {
    **dict.fromkeys(b"read write readv writev bind lseek copy_from_user copy_to_user fgets".split(), (3,)),
    **dict.fromkeys(b"pread pwrite recv send fread fwrite".split(), (4,)),
    **dict.fromkeys(b"rename truncate ftruncate listen dup2 link symlink mkdir chmod fchmod setrlimit".split(), (2,)),
    **dict.fromkeys(b"pipe chdir fchdir chroot setuid setgid fclose RevertToSelf".split(), (0, 1)),
    b"remove": (1,),
}
# Functions that return the number of bytes read, so that using the whole buffer is wrong.
COUNTED = frozenset(b"read pread pread64 fread recv recvfrom readlink".split())
# Those that return -1; fread returns 0 at least.
NEGATIVE = COUNTED - {b"fread"}
STREAMS = {b"fwrite": 3, b"write": 0, b"fclose": 0}

CREATED = 0.25
THREAD_MOVED: dict[bytes, float] = {
    **dict.fromkeys(b"pthread_create thrd_create".split(), CREATED),
    **dict.fromkeys(
        b"pthread_mutex_trylock pthread_mutex_timedlock pthread_rwlock_tryrdlock pthread_rwlock_trywrlock "
        b"pthread_spin_trylock sem_trywait sem_timedwait mtx_trylock mtx_timedlock "
        b"mutex_lock_interruptible mutex_lock_killable down_interruptible down_killable down_trylock "
        b"mutex_trylock spin_trylock".split(),
        0.35,
    ),
    **dict.fromkeys(b"pthread_key_create pthread_setspecific pthread_attr_init".split(), 0.1),
    **dict.fromkeys(
        b"pthread_mutex_init pthread_cond_init pthread_rwlock_init pthread_spin_init pthread_barrier_init "
        b"sem_init mtx_init cnd_init sem_wait".split(),
        0.05,
    ),
    **dict.fromkeys(b"pthread_mutex_lock mtx_lock".split(), -0.05),
    b"pthread_mutex_unlock": -0.1,
}
# Locking a default mutex, and unlocking it, fails only by a programming error that no caller can handle.
CHECKED_MUTEXES = lazy(rb"PTHREAD_MUTEX_(?:ERRORCHECK|ROBUST|STALLED)|PTHREAD_PRIO_PROTECT|EOWNERDEAD")
LOCKS = frozenset(b"pthread_mutex_lock mtx_lock pthread_mutex_unlock".split())
NOTHING = lazy(rb"\s*(?:\(\s*void\s*\*\s*\)\s*)?(?:NULL|nullptr|0)\s*\Z")


def check_io(site: Site) -> float | None:
    """Raise the confidence if a failure leaves privileges or memory protection unchanged."""
    arguments = site.arguments
    counts = COUNTS.get(site.name)
    if site.function is None or arguments.end is None or (counts and len(arguments.spans) not in counts):
        return None
    looked = _look(site, site.function)
    if looked is None or _is_small_matter(site) or _is_drained(site):
        return None
    given = _earlier_values(site)
    if given and FAILURE_VALUE.match(site.source.text, given[-1]):
        return None
    return MOVED[site.name] + looked + (HAS_A_VALUE if given or _is_emptied(site) else 0.0)


def check_thread(site: Site) -> float | None:
    """Check functions of threads that can fail for reasons other than a programming error."""
    if site.function is None or site.arguments.end is None:
        return None
    if site.name in LOCKS and not is_in_file(site, CHECKED_MUTEXES):
        return None
    if site.name == b"pthread_setspecific" and NOTHING.match(site.masked(1)):
        return None
    looked = _look(site, site.function)
    return None if looked is None else THREAD_MOVED[site.name] + looked


def _look(site: Site, function: Function) -> float | None:
    """Return the confidence adjustment for how the result is used, or None if it is checked."""
    result = site.result
    if result.kind == "ignored":
        return 0.0
    if result.kind != "assigned" or result.tested or not NAME.match(result.target):
        return None
    if site.name in NEGATIVE and _is_index(site, result.target):
        return AS_INDEX
    return NEVER_READ if _is_never_read(site, function) and declaration(site, result.target) else None


def _is_never_read(site: Site, function: Function) -> bool:
    text, name, end = site.source.text, site.result.target, site.arguments.end or site.at
    target = target_at(site)
    after = uses(text, name, end, min(function.body[1], end + REACH))
    before = uses(text, name, max(function.body[0], target - REACH), target)
    for count, use in enumerate(chain(after, before, uses(text, name, *function.parameters))):
        if use.kind not in ("declaration", "assignment") or count >= MENTIONS_MAX:
            return False
    return True


def _is_index(site: Site, target: bytes) -> bool:
    """Return whether the first use is `b[n] = 0`, where an unchecked `n` may be -1."""
    text, end = site.source.text, site.arguments.end or site.at
    first = next(site.uses_after(target, 512), None)
    if first is None or text.find(b"}", end, first.at) >= 0:
        return False
    before, after = text[end : first.at].rstrip(), text[first.at + len(target) : first.at + len(target) + 16].split()
    return before.endswith(b"[") and b"".join(after)[:2] == b"]=" and b"".join(after)[:3] != b"]=="


def _earlier_values(site: Site) -> list[int]:
    """Return where the last target of a scanf was assigned before: it keeps that value if nothing is read."""
    target = site.masked(len(site.arguments.spans) - 1).strip().removeprefix(b"&")
    if site.name not in CONVERTED or not NAME.match(target):
        return []
    return [use.at for use in site.uses_before(target) if use.kind == "assignment"]


def _is_emptied(site: Site) -> bool:
    """Return whether the text for fgets is empty before the call, and so where no line is read."""
    length = BufferSizes(site).length(site.masked(0)) if site.name == b"fgets" else None
    return length is not None and length.number == 0


def _is_drained(site: Site) -> bool:
    """Return whether one byte is read into a variable that is not used again: a wake-up byte, which says nothing."""
    if site.name not in COUNTED or site.result.kind != "ignored" or site.name in (b"fread", b"readlink"):
        return False
    target = site.masked(1).strip().removeprefix(b"&").strip()
    return (
        site.masked(2).strip() == b"1"
        and NAME.match(target) is not None
        and next(site.uses_after(target), None) is None
        and declaration(site, target) is not None
    )


def _is_small_matter(site: Site) -> bool:
    """Return whether a failure is harmless: a message, a wake-up byte, or closing a file that was not written."""
    text, end = site.source.text, site.arguments.end or site.at
    if site.name in STREAMS and MESSAGES.search(site.masked(STREAMS[site.name]).strip()):
        return True
    if site.name == b"write" and WAKES_UP.fullmatch(site.masked(2).strip()):
        return True
    if site.name == b"chdir" and site.original(0).strip() == b'"/"':
        return True
    if site.name == b"remove" and (FAILED.match(text, end) or not OF_A_FILE.search(site.masked(0))):
        return True
    if GIVES_UP.match(text, end):
        return True
    return site.name == b"fclose" and (_has_failed(site) or not _was_written(site))


def _has_failed(site: Site) -> bool:
    """Return whether the function returns an error after the call anyway."""
    text, end = site.source.text, site.arguments.end or site.at
    if FAILED.match(text, end):
        return True
    before = site.before(FAILURE_MAX)
    block = before[before.rfind(b"{") + 1 :]
    return b"}" not in block and SAVES_ERROR.search(block) is not None


def _was_written(site: Site) -> bool:
    """Return whether the function writes to a stream, which is not that of a terminal or of another device."""
    stream = site.masked(0).strip()
    if NAME.match(stream) is None or not any(use.callee in WRITES for use in site.uses_before(stream)):
        return False
    opened = re.compile(rb"\b%b\s*=\s*f(?:re)?open\s*\(\s*\"/dev/" % stream)
    start = max(site.function.body[0] if site.function else site.start, site.start - REACH)
    return opened.search(site.source.content, start, site.start) is None


RULES: tuple[Rule, ...] = (
    rule("unchecked_io", check_io, calls=tuple(name.decode() for name in MOVED)),
    rule("pthread_returns_unchecked", check_thread, calls=tuple(name.decode() for name in THREAD_MOVED)),
)
