"""ignored_result: a Result, and with it a possible error, is discarded."""

from jarvis_workers.sec.rules.analysis.rust_context import in_tests, is_commented, is_of_tests
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

LOST_LOCK, LOST_WRITE, EXPECTED, UNKNOWN = 0.35, 0.15, -0.05, -0.1
VALUE_MAX, STATEMENT_MAX, BRACKETS_MAX = 1_024, 1_024, 96
PARENTHESIS = 40
LET = lazy(rb"let\s+_\s*(?::[^=;{}]{1,128})?=\s*+")
OK = lazy(rb"\.\s*ok\s*\(\s*\)\s*;")
BRACKET = lazy(rb"[][(){};]")
TAIL = lazy(
    rb"(?:\.\s*(?:await|unwrap_err\(\)|map_err\s*\([^;{}]{0,200}\)|context\s*\([^;{}]{0,200}\)|inspect_err\s*\([^;{}]{0,200}\))\s*)*\Z"
)
CALLEE = lazy(rb"(\w+)\s*(!)?\s*(?:::\s*<[^;{}()]{0,128}>\s*)?[\(\[{]")
KEEPS = lazy(rb"(?:=|\breturn\b|\bbreak\b|=>|\blet\b)[^=]")
ATTRIBUTE = lazy(rb"#\[[^][]*(?:\[[^][]*\][^][]*)*\]")
LOCKS = frozenset(b"lock try_lock read_lock write_lock".split())
WRITES = frozenset(
    b"write_all flush sync_all sync_data set_len set_permissions rename commit save persist write_to copy "
    b"write_all_buf finish close execute authenticate verify verify_slice validate setuid setgid chroot".split()
)
FALLIBLE = frozenset(
    b"write write_fmt writeln send try_send send_to send_all remove_file remove_dir remove_dir_all create_dir "
    b"create_dir_all set_nonblocking set_nodelay set_read_timeout set_write_timeout shutdown kill wait try_wait join "
    b"try_join read read_exact read_to_end read_to_string read_line recv try_recv connect bind listen accept "
    b"set_logger init try_init set_global_default spawn_blocking symlink hard_link seek status output "
    b"block_on timeout try_into try_from parse from_str set register deregister reregister unregister subscribe "
    b"rollback try_reserve".split()
)
BEST_EFFORT = frozenset(
    b"send try_send remove_file remove_dir remove_dir_all kill shutdown set_logger try_init init set subscribe join "
    b"rollback write create_dir".split()
)
NO_RESULT = frozenset(
    b"spawn drop take replace len clone new default insert remove pop push into iter next as_ref as_mut "
    b"black_box size_of fetch_add fetch_sub fetch_update swap compare_exchange compare_exchange_weak abort Some Ok "
    b"forget poll from set_hook identity".split()
)
DECLARED = lazy(rb"\bfn\s++(\w++)([^{};]{0,512}+)")
RESULTS = lazy(rb"\A\s*+(?>\w++\s*+::\s*+)*+Result\b")


def check_ignored(site: Site) -> float | None:
    """Raise the confidence for important results: lock guards (released at once), writes, checks."""
    text = site.source.text
    value = _after_let(site) if text[site.start : site.start + 3] == b"let" else _before_ok(site)
    if value is None:
        return None
    callee, is_macro = _last_call(value)
    if not callee:
        return None
    if is_macro:
        return EXPECTED + in_tests(site) if callee in (b"write", b"writeln") else None
    moved = _weight(site, callee)
    if moved is None or (moved <= 0.0 and is_of_tests(site)):
        return None
    return moved + (UNKNOWN if is_commented(site) else 0.0) + in_tests(site)


def _after_let(site: Site) -> bytes | None:
    text = site.source.text
    head = LET.match(text, site.start, site.start + 256)
    if head is None:
        return None
    depth = 0
    for count, match in enumerate(BRACKET.finditer(text, head.end(), head.end() + VALUE_MAX)):
        mark = match[0]
        depth += (mark in b"([{") - (mark in b")]}")
        if (mark == b";" and depth == 0) or depth < 0:
            return text[head.end() : match.start()].strip()
        if count > BRACKETS_MAX:
            break
    return None


def _before_ok(site: Site) -> bytes | None:
    """Return the expression before `.ok();` if its value is discarded."""
    text = site.source.text
    if not OK.match(text, site.start, site.start + 64):
        return None
    floor = max(0, site.start - STATEMENT_MAX)
    window = text[floor : site.start]
    depth, start = 0, 0 if floor == 0 else -1
    for count, match in enumerate(reversed(list(BRACKET.finditer(window)))):
        mark = match[0]
        if depth == 0 and mark in b";{}([":
            start = match.end()
            break
        depth += (mark in b")]}") - (mark in b"([{")
        if count > BRACKETS_MAX:
            return None
    statement = window[start:].strip() if start >= 0 else b""
    return None if not statement or KEEPS.search(_outside(statement)) else statement


def _outside(statement: bytes) -> bytes:
    """Return the statement up to its first bracket, where an assignment would be."""
    statement = ATTRIBUTE.sub(b"", statement)
    first = BRACKET.search(statement)
    return (statement[: first.start()] if first else statement) + b" "


def _last_call(value: bytes) -> tuple[bytes, bool]:
    """Return the name of the call that produces the value, and whether it is a macro."""
    end = TAIL.search(value)
    body = value[: end.start()] if end else value
    if body[-1:] not in (b")", b"]"):
        return b"", False
    opened = _opening(body)
    if opened < 0:
        return b"", False
    name = CALLEE.search(body[max(0, opened - 160) : opened + 1])
    last = name
    while name:
        last, name = name, CALLEE.search(body[max(0, opened - 160) : opened + 1], name.end())
    if last is None or last.end() != min(opened, 160) + 1 or (body[opened] != PARENTHESIS and last[2] is None):
        return b"", False
    return last[1], last[2] is not None


def _opening(body: bytes) -> int:
    depth = 0
    for match in reversed(list(BRACKET.finditer(body))):
        depth += (match[0] in b")]}") - (match[0] in b"([{")
        if depth == 0:
            return match.start()
    return -1


def _weight(site: Site, callee: bytes) -> float | None:
    is_let = site.source.text[site.start : site.start + 3] == b"let"
    if callee in LOCKS or callee in NO_RESULT:
        return LOST_LOCK if is_let and callee in LOCKS else None
    if callee in WRITES:
        return LOST_WRITE
    if callee in BEST_EFFORT:
        return EXPECTED
    if callee in FALLIBLE or _is_declared_fallible(site, callee):
        return 0.0
    if is_let:
        return None if callee[:1].isupper() else UNKNOWN
    return EXPECTED


def _is_declared_fallible(site: Site, callee: bytes) -> bool:
    """Return whether a function of this name in the file returns a Result."""
    source = site.source
    return callee in source.once("fallible", lambda: _fallible_functions(source.text))


def _fallible_functions(text: bytes) -> set[bytes]:
    return {match[1] for match in DECLARED.finditer(text) if RESULTS.search(match[2].partition(b"->")[2])}


RULES: tuple[Rule, ...] = (rule("ignored_result", check_ignored, shapes=(r"let _ ?[:=]", r"\.ok\(\)\s{0,64};")),)
