"""command_execution: a program or shell is started with a non-constant command."""

from itertools import islice

from jarvis_workers.sec.rules.analysis.declarations import Scope
from jarvis_workers.sec.rules.analysis.literals import is_constant, provenance
from jarvis_workers.sec.rules.analysis.macros import is_in_macro
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

OUTSIDE, BUILT_OF_OTHERS, ELSEWHERE = 0.25, 0.04, -0.2
TEXTS_MAX, CLASSES_REACH = 8, 2_000
FROM_OUTSIDE = lazy(rb"\b(?:argv|optarg|getenv|fgets|recv)\b")
BUILT = lazy(rb"(?:sn?printf|strn?cat|strlcat|strn?cpy|strlcpy|append)\s*\(\s*\Z")
VARIABLE = lazy(rb",\s*+(?:\(\s*+(?:const\s++)?\w++\s*+\*++\s*+\)\s*+)?([A-Za-z_]\w*+)\s*+(?=[,)])")
CHARACTERS = lazy(rb"\s*+\.\s*+(?:c_str|data)\s*+\(\s*+\)\Z")
# The digits or letters of a text are checked one by one.
CLASSES = lazy(rb"\b(?:std::)?(?:isw?(?:digit|xdigit|alnum|alpha)|strspn|all_of)\s*\(")
SHELL_OPTION = lazy(rb'"-c"')
LISTS = (b"execl", b"execlp", b"execle")
COMMAND_ARGUMENT = {b"posix_spawn": 1, b"posix_spawnp": 1}


def check_command(site: Site) -> float | None:
    """Raise the confidence if the command runs in a shell, is concatenated or is untrusted input."""
    index = COMMAND_ARGUMENT.get(site.name, 0)
    command = CHARACTERS.sub(b"", site.masked(index).strip()).strip()
    if not command:
        return None
    through_shell = site.name in (b"system", b"popen", b"_popen", b"_wsystem", b"_wpopen")
    if is_constant(command) or provenance(site, command) == "constant":
        return _shell_list(site)
    moved = 0.0 if through_shell else -0.2
    if is_in_macro(site):
        return moved + ELSEWHERE
    if FROM_OUTSIDE.search(command):
        return moved + OUTSIDE
    start = site.function.body[0] if site.function else site.start
    if CLASSES.search(site.source.text, max(start, site.start - CLASSES_REACH), site.start):
        return None
    return moved + _built(site, command)


def _shell_list(site: Site) -> float | None:
    """Check `execl("/bin/sh", "sh", "-c", command, NULL)`, which is equivalent to `system(command)`."""
    if site.name not in LISTS:
        return None
    arguments = [site.original(number).strip() for number in range(len(site.arguments.spans))]
    option = next((number for number, text in enumerate(arguments) if SHELL_OPTION.fullmatch(text)), len(arguments))
    command = site.masked(option + 1)
    constant = not command.strip() or is_constant(command) or provenance(site, command) == "constant"
    return None if constant else 0.0


def _built(site: Site, command: bytes) -> float:
    """Return the adjustment for the construction of the command, highest for text from outside or from the caller."""
    before = site.before(2_000)
    scope = Scope(site)
    at = before.rfind(command)
    for _ in range(8):
        if at < 0:
            break
        if BUILT.search(before[max(0, at - 32) : at]):
            pasted = before[at + len(command) :].partition(b";")[0]
            match = FROM_OUTSIDE.search(pasted) or any(_is_of_caller(scope, name) for name in _texts(pasted))
            return OUTSIDE if match else BUILT_OF_OTHERS
        at = before.rfind(command, 0, at)
    return 0.0


def _texts(pasted: bytes) -> set[bytes]:
    """Return the plain variables in a concatenation, without arguments of nested calls."""
    return {match[1] for match in islice(VARIABLE.finditer(pasted), TEXTS_MAX)}


def _is_of_caller(scope: Scope, name: bytes) -> bool:
    if any(FROM_OUTSIDE.search(value.text) for value in scope.values(name)):
        return True
    return scope.is_parameter(name) and scope.is_pointer(name)


RULES: tuple[Rule, ...] = (
    rule(
        "command_execution",
        check_command,
        calls=(
            "system",
            "popen",
            "_popen",
            "_wsystem",
            "_wpopen",
            "execl",
            "execlp",
            "execle",
            "execv",
            "execvp",
            "execve",
            "execvpe",
            "posix_spawn",
            "posix_spawnp",
        ),
    ),
)
