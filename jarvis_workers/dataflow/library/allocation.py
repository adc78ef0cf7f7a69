"""Functions that allocate and release memory, and wrappers recognized by name: zmalloc, xstrdup, sds_realloc."""

from jarvis_workers.dataflow.expressions.lvalues import name_target
from jarvis_workers.dataflow.ir.expr import BinaryExpr, Expression
from jarvis_workers.dataflow.library.model import (
    Handler,
    Handlers,
    LibraryCall,
    change,
    on_allocation,
    on_reallocation,
    use_text,
)
from jarvis_workers.dataflow.memory.extents import extent_of
from jarvis_workers.dataflow.memory.ownership import make, release_object
from jarvis_workers.dataflow.memory.pointers import escape_inside, replaced, used_after_free
from jarvis_workers.dataflow.queries.ast_queries import without_casts
from jarvis_workers.dataflow.queries.name_heuristics import listed
from jarvis_workers.dataflow.state.ranges import arithmetic, is_exact
from jarvis_workers.dataflow.state.values import ANY, IS_NULL, MAYBE_NULL, NOT_NULL, UNKNOWN, Object, Range, Value

NEVER_NULL = frozenset(
    listed("""
    xmalloc xcalloc xrealloc xstrdup xstrndup zmalloc zcalloc zrealloc zstrdup g_malloc g_malloc0 g_strdup g_strndup
    g_realloc emalloc ecalloc estrdup safe_malloc xzalloc sdsnew sdsdup sdsempty ztrymalloc_
    """)
)
NEVER_NULL_STARTS = ("x", "z", "g_", "safe", "ck_", "checked")
MAYBE_NULL_STARTS = ("ztry", "g_try")


def never_fails(name: str) -> bool:
    """Return whether a function ends the program when memory is exhausted."""
    return name in NEVER_NULL


def _null_of(name: str) -> int:
    sure = name.startswith(NEVER_NULL_STARTS) and not name.startswith(MAYBE_NULL_STARTS)
    return NOT_NULL if sure or never_fails(name) else MAYBE_NULL


def _allocate(
    call: LibraryCall, size: Range, counts: tuple[Value, ...] = (), *, zero: bool = False, unset: bool = True
) -> Value:
    """Allocate memory; the size is computed from the arguments `counts`.  A size of 0 counts as unknown."""
    on_allocation.happens(call, counts)
    null = _null_of(call.name)
    made = Object("heap", "malloc", size if is_exact(size) and size[0] else UNKNOWN, unset_from=0 if unset else None)
    if zero:
        made = made._replace(unset_from=None, length=(0, 0))
    note = "{} may return NULL" if null == MAYBE_NULL else "allocated by {}"
    return make(call.path, call.node, made, null=null, note=note)


def _malloc(call: LibraryCall) -> Value:
    place = 1 if call.name in ("aligned_alloc", "memalign") else 0
    size = call.value(place)
    value = _allocate(call, size.range, (size,))
    if place < len(call.node.args) and not is_exact(size.range):
        _measure(call, value, call.node.args[place])
    return value


def _measure(call: LibraryCall, value: Value, size: Expression) -> None:
    """Record a size that is a multiple of a variable."""
    path, extent = call.path, extent_of(call.path, size)
    if extent is not None:
        path.machine.execution.measures.add(extent.variable)
        change(path, value, extent=extent)


def _calloc(call: LibraryCall) -> Value:
    if len(call.values) < 2 or call.name == "kzalloc":
        return _allocate(call, call.value(0).range, (call.value(0),), zero=True)
    count, size = call.values[:2]
    value = _allocate(call, arithmetic("*", count.range, size.range), (count, size), zero=True)
    if not is_exact(count.range) or not is_exact(size.range):
        _measure(call, value, BinaryExpr("b", "*", call.node.args[0], call.node.args[1]))
    return value


def _realloc(call: LibraryCall) -> Value:
    path, old, size = call.path, call.value(0), call.value(1)
    if old.target is None and not old.unset and old.null != IS_NULL:
        old = name_target(path, without_casts(call.node.args[0]), old) if call.node.args else old
    target = path.object_of(old)
    if target is not None and target.freed is not None:
        used_after_free(path, call.node.args[0], old, call.line)
    on_reallocation.happens(call)
    value = _allocate(call, size.range, (size,), unset=False)
    if old.target is None or (target is not None and target.kind not in ("heap", "other")):
        return value
    escape_inside(path, old.target)
    path.objects[old.target] = (target or Object("other"))._replace(lost=True)
    change(path, value, replaces=old.target)
    if value.null == NOT_NULL:
        replaced(path, value.target or "")
    return value


def _strdup(call: LibraryCall) -> Value:
    if call.name.startswith("g_"):
        # Those of glib return NULL for NULL.
        pass
    elif "ndup" in call.name:
        call.use(0)
    else:
        use_text(call, 0)
    source = call.object(0)
    value = _allocate(call, UNKNOWN, unset=False)
    if source is not None:
        change(call.path, value, taint=source.taint, length=source.length)
    return value


def _alloca(call: LibraryCall) -> Value:
    size = call.value(0).range
    made = Object("stack", "alloca", size if size[0] == size[1] else UNKNOWN, unset_from=0)
    return make(call.path, call.node, made, note="allocated on the stack by {}")


def _free(call: LibraryCall) -> Value:
    if call.values:
        release_object(call.path, call.node.args[0], call.values[0], "malloc", call.line)
    return ANY


def wrapped(name: str) -> Handler | None:
    """Return the handler of a wrapper whose name resembles that of an allocation function."""
    low = name.lower()
    if low.endswith("dealloc"):
        return None
    return next((handler for ending, handler in WRAPPED if low.endswith(ending)), None)


WRAPPED: tuple[tuple[tuple[str, ...], Handler], ...] = (
    (("realloc",), _realloc),
    (("strdup", "strndup"), _strdup),
    (("malloc",), _malloc),
    (("calloc", "zalloc"), _calloc),
)
MALLOC = """
    malloc kmalloc vmalloc OPENSSL_malloc av_malloc xmalloc zmalloc g_malloc CRYPTO_malloc _malloc aligned_alloc
    memalign valloc
"""
CALLOC = """
    calloc kcalloc xcalloc zcalloc g_malloc0 OPENSSL_zalloc kzalloc av_mallocz av_calloc vzalloc xzalloc
"""
REALLOC = "realloc krealloc xrealloc zrealloc g_realloc OPENSSL_realloc av_realloc reallocf"
STRDUP = """
    strdup _strdup wcsdup _wcsdup kstrdup xstrdup zstrdup g_strdup OPENSSL_strdup av_strdup strndup xstrndup g_strndup
"""
FREE = "free kfree vfree kvfree cfree zfree xfree g_free OPENSSL_free CRYPTO_free av_free"
HANDLERS: Handlers = (
    (listed(MALLOC), _malloc),
    (listed(CALLOC), _calloc),
    (listed(REALLOC), _realloc),
    (listed(STRDUP), _strdup),
    (["alloca", "_alloca", "__builtin_alloca"], _alloca),
    (listed(FREE), _free),
)
