"""getenv_unchecked: an environment variable's value reaches a dangerous call, or is read although it may be NULL."""

from typing import NamedTuple

from jarvis_workers.sec.rules.analysis.mentions import Use, uses
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

HARMFUL, RUNS, MISSING, PATH, PRINTED = 0.3, 0.05, 0.1, -0.1, -0.1
BEFORE, VALUE_MAX = 2_048, 128
COMMANDS = frozenset(
    b"system popen _popen execl execlp execle execv execvp execve execvpe posix_spawn posix_spawnp dlopen LoadLibrary "
    b"LoadLibraryA LoadLibraryExA WinExec".split()
)
UNBOUNDED = frozenset(b"strcpy strcat stpcpy wcscpy wcscat sprintf vsprintf lstrcpy lstrcat".split())
FORMATS = frozenset(b"printf vprintf wprintf".split())
PATHS = frozenset(
    b"open open64 fopen fopen64 freopen creat unlink remove rename chdir mkdir rmdir opendir chmod chown chroot "
    b"symlink truncate mkstemp".split()
)
NEEDS_TEXT = frozenset(
    b"strlen strcmp strncmp strcasecmp strncasecmp stricmp strdup strndup xstrdup zstrdup atoi atol atoll atof strtol "
    b"strtoul strtoll strtoull strtod strchr strrchr strstr strtok strtok_r strcpy strcat strncpy strncat stpcpy "
    b"memcpy strcspn strspn strpbrk puts fputs wcslen sscanf string stoi stol stoul".split()
)
LENGTHS = frozenset(b"strlen strnlen wcslen _tcslen lstrlen".split())
PRINTS = frozenset(b"printf fprintf snprintf sprintf asprintf syslog".split())
STRING_OBJECT = lazy(rb"\bstring\s+\w+\s*[({]\s*\Z|\bstring\s*[({]\s*\Z|\bstring\s+\w+\s*=\s*\Z")
ELEMENT = lazy(rb"\s*+\[")
# POSIX and common practice make these the commands that the user wants to run.
PROGRAMS = lazy(rb'\s*"\w*(?:SHELL|COMSPEC|EDITOR|VISUAL|PAGER|BROWSER|ASKPASS|HELPER)"')
STAR = lazy(rb"(?:[=(,;!{}&|]|\breturn)\s*\*\s*\Z")
MEASURED = lazy(rb"\bstrlen\s*\(\s*(?:secure_)?getenv\b")
FIRST = lazy(rb"\(\s*(?:\([^()]{1,32}\)\s*)?(?:std\s*::\s*)?\Z")


class _UseFacts(NamedTuple):
    """Facts about the value at a use: whether it is known not to be NULL, and whether its length was computed."""

    there: bool
    measured: bool = False


def check_getenv(site: Site) -> float | None:
    """Raise the confidence if the value runs a command or overflows a buffer; reads are safe after a NULL test."""
    result = site.result
    if site.arguments.end is None or result.kind in ("returned", "tested", "voided", "ignored"):
        return None
    text = site.source.text
    before = text[max(0, site.start - 96) : site.start].removesuffix(b"std::")
    if ELEMENT.match(text, site.arguments.end) or STAR.search(before) or STRING_OBJECT.search(before):
        return MISSING
    if result.kind == "assigned":
        return _worst_of_uses(site, result.target, _UseFacts(result.tested)) if result.target else None
    mention = next(uses(text, text[site.start : site.at].rstrip(), site.start, site.at), None)
    if mention is None or mention.kind != "argument":
        return None
    return _harm(site, mention, _UseFacts(False, measured=MEASURED.search(site.before(BEFORE)) is not None))


def _worst_of_uses(site: Site, target: bytes, facts: _UseFacts) -> float | None:
    worst: float | None = None
    for use in site.uses_after(target):
        if use.kind == "assignment" and not (facts.there and _is_default(site, use)):
            break
        if use.kind == "test":
            facts = facts._replace(there=True)
        elif use.kind == "dereference" and not facts.there:
            return max(MISSING, worst or MISSING)
        elif use.kind == "argument":
            harm = _harm(site, use, facts)
            if harm is not None and (worst is None or harm > worst):
                worst = harm
            facts = facts._replace(measured=facts.measured or use.callee in LENGTHS)
    return worst


def _is_default(site: Site, use: Use) -> bool:
    """Return whether a use is `if (!p) p = "text";`, after which `p` may still hold the environment's value."""
    value = site.source.text[use.at : use.at + VALUE_MAX].partition(b";")[0]
    return b"(" not in value


def _harm(site: Site, use: Use, facts: _UseFacts) -> float | None:
    callee, trusted = use.callee, site.name == b"secure_getenv"
    is_first = FIRST.search(site.source.text[max(0, use.at - 48) : use.at]) is not None
    if is_first and callee in FORMATS:
        return HARMFUL
    is_program = PROGRAMS.match(site.original(0)) is not None
    if is_first and callee in COMMANDS and (is_program or not trusted):
        return None if is_program else RUNS
    if callee in UNBOUNDED and not facts.measured and not trusted:
        return HARMFUL
    if callee in NEEDS_TEXT and not facts.there:
        return MISSING
    if callee in PATHS and not trusted:
        return PATH if facts.there else 0.0
    return PRINTED if callee in PRINTS and not facts.there else None


RULES: tuple[Rule, ...] = (rule("getenv_unchecked", check_getenv, calls=("getenv", "secure_getenv", "_wgetenv")),)
