"""shell_command: text that is not constant becomes part of a command line of a shell."""

import re

from jarvis_workers.sec.rules.analysis.examined import is_examined
from jarvis_workers.sec.rules.analysis.rust_context import is_of_tests, softened
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.calls import arguments
from jarvis_workers.source.lazy_regex import lazy

REACH = 1_024
FORMATTED, VARIABLE = 0.1, -0.1
NEW = lazy(rb"\s*::\s*new\s*(?=\()")
SHELL = lazy(rb'\s*&?\s*"(?:/(?:usr/)?bin/)?(?:(?:ba|da|z|k)?sh|cmd(?:\.exe)?|powershell(?:\.exe)?|pwsh)"\s*\Z')
ARGUMENT = lazy(rb"\.\s*(?P<many>args?)\s*(?=\()")
FLAG = lazy(rb'\s*&?\s*"(?:-l?i?c|/[cCkK]|-[Cc]ommand)"\s*\Z')
FLAG_FIRST = lazy(rb'\s*&?\s*(?:vec!)?\s*\[\s*"(?:-l?i?c|/[cCkK]|-[Cc]ommand)"\s*,\s*(?P<command>.*?),?\s*\]\s*\Z')
LITERAL = lazy(rb'\s*&?\s*(?:concat!\s*\(.*|[bc]?r?#*"[^"]*"#*|[A-Z][A-Z0-9_]*|include_str!.*)\s*\Z')
FORMAT = lazy(rb"\bformat!\s*[(\[]|\+\s*&?\s*\w|\.\s*(?:join|concat|replace)\s*\(")
QUOTED = lazy(rb"\b(?:shell_?)?(?:escape|quote|words::quote|join_all_quoted)\w*\s*(?:!?\(|::)")
NAME = lazy(rb"\s*&?\s*(?:mut\s+)?([a-z_]\w*)\s*(?:\.\s*(?:as_str|as_ref|clone|to_string)\s*\(\s*\))?\s*\Z")
DEFINED = rb"\blet\s+(?:mut\s+)?%b\s*(?::[^=;]*)?=\s*([^;]*);"


def check_shell(site: Site) -> float | None:
    """Report a shell whose command is formatted from other values, or a variable; skip constants and quoted values."""
    text, content = site.source.text, site.source.content
    opened = NEW.match(text, site.at, site.at + 64)
    if opened is None or is_of_tests(site):
        return None
    program = arguments(text, opened.end())
    if program.end is None or not SHELL.match(content[opened.end() + 1 : program.end - 1]):
        return None
    command = _command(site, program.end) if is_examined(site, "shell_command") else None
    if command is None or LITERAL.match(text[command[0] : command[1]]):
        return None
    moved = _of_command(site, text[command[0] : command[1]])
    return None if moved is None else moved + softened(site)


def _command(site: Site, start: int) -> tuple[int, int] | None:
    """Return the span of the argument after `-c`, or of the list that has it."""
    text, content = site.source.text, site.source.content
    end = site.function.body[1] if site.function else start + REACH
    flagged = False
    for match in ARGUMENT.finditer(text, start, min(end, start + REACH)):
        given = arguments(text, match.end())
        if given.end is None or not given.spans:
            return None
        first, last = match.end() + 1, given.end - 1
        if flagged:
            return first, last
        if match["many"] == b"args":
            listed = FLAG_FIRST.match(content[first:last])
            return (first + listed.start("command"), first + listed.end("command")) if listed else None
        flagged = FLAG.match(content[first:last]) is not None
    return None


def _of_command(site: Site, command: bytes) -> float | None:
    name = NAME.match(command)
    if name and site.function:
        text = site.source.text[site.function.body[0] : site.start]
        command = [command, *re.findall(DEFINED % re.escape(name[1]), text)][-1]
        if LITERAL.match(command):
            return None
    if QUOTED.search(command):
        return None
    return FORMATTED if FORMAT.search(command) else VARIABLE


RULES: tuple[Rule, ...] = (rule("shell_command", check_shell, words=("Command",)),)
