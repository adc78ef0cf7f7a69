"""command_execution: a program or shell is started with something that is not a constant."""

import re

from jarvis_workers.sec.rules.literals import is_constant, provenance
from jarvis_workers.sec.rules.rule import Rule, Site

__all__ = ["RULES"]

FROM_OUTSIDE = re.compile(rb"\b(?:argv|optarg|getenv|fgets|recv)\b")
BUILT = re.compile(rb"(?:sn?printf|strn?cat|strlcat|strn?cpy|strlcpy|append)\s*\(\s*\Z")
SHELL_OPTION = re.compile(rb'"-c"')
LISTS = (b"execl", b"execlp", b"execle")
COMMAND_ARGUMENT = {b"posix_spawn": 1, b"posix_spawnp": 1}


def check_command(site: Site) -> float | None:
    """Surer where the command goes through a shell, was pasted together or comes from outside."""
    index = COMMAND_ARGUMENT.get(site.name, 0)
    command = site.masked(index).strip()
    if not command:
        return None
    through_shell = site.name in (b"system", b"popen", b"_popen", b"_wsystem", b"_wpopen")
    if is_constant(command) or provenance(site, command) == "constant":
        return _shell_list(site)
    moved = 0.0 if through_shell else -0.2
    if FROM_OUTSIDE.search(command) or _was_built(site, command):
        moved += 0.1
    return moved


def _shell_list(site: Site) -> float | None:
    """`execl("/bin/sh", "sh", "-c", command, NULL)` is as good as `system(command)`."""
    if site.name not in LISTS:
        return None
    given = [site.original(number).strip() for number in range(len(site.arguments.spans))]
    option = next((number for number, text in enumerate(given) if SHELL_OPTION.fullmatch(text)), len(given))
    command = site.masked(option + 1)
    constant = not command.strip() or is_constant(command) or provenance(site, command) == "constant"
    return None if constant else 0.0


def _was_built(site: Site, command: bytes) -> bool:
    before = site.before(2_000)
    at = before.rfind(command)
    for _ in range(8):
        if at < 0:
            return False
        if BUILT.search(before[max(0, at - 32) : at]):
            return True
        at = before.rfind(command, 0, at)
    return False


RULES: tuple[Rule, ...] = (
    Rule(
        "command_execution",
        language="c/cpp",
        category="input_validation",
        cwe=78,
        confidence=0.75,
        check=check_command,
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
        title="command that is not constant",
        description="Starts a program or shell with a command that is not constant: input that reaches it runs others.",
        suggestion="Start a fixed program with an argument vector and no shell; allow only known values for the rest.",
        verification="Somebody outside of the program can decide a part of the command.",
        bad='snprintf(cmd, sizeof cmd, "ls %s", dir);\nsystem(cmd);',
        good='char *const args[] = {"ls", "--", dir, NULL};\nexecv("/bin/ls", args);',
    ),
)
