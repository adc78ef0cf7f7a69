"""reachable_assertion: an assertion about data from outside, which ends the program instead of refusing the data."""

import re

from jarvis_workers.sec.rules.analysis.examined import is_examined
from jarvis_workers.sec.rules.analysis.reads_input import reads_nothing
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

REACH = 4_096
NAMES_MAX = 8
OF_BYTES, OF_RESULT, OF_NUMBER = 0.0, 0.1, 0.05
ASSERTS = ("assert", "g_assert", "Assert", "ASSERT", "BUG_ON", "CHECK", "assert_return")
NAMES = lazy(rb"(?<![\w.>])([a-z_]\w*)\b(?!\s*\()")
# Whoever reads: their results, and numbers that they made of bytes.
TAKES = rb"(?:read|recv|recvfrom|fread|getc|fgetc|getchar|fscanf|scanf|sscanf|accept)\s*\("
CONVERTS = rb"(?:ntohs|ntohl|[bl]e\d+toh|[bl]e\d+_to_cpu|strtou?ll?|atoi|atol)\s*\("
READS = lazy(rb"\b(?:fgets\s*\(|" + TAKES + rb"|" + CONVERTS + rb")")
ASSIGNED = rb"(?<![\w.>])NAME\s*=\s*(?:\([\w\s*]+\)\s*)?"
RESULT = ASSIGNED + TAKES
NUMBER = ASSIGNED + CONVERTS
FILLED = (
    rb"\b(?:read|recv|recvfrom)\s*\([^;,()]*,\s*\(?[\w\s*]*\)?\s*&?\s*NAME\b|\bfread\s*\(\s*&?\s*NAME\b|\bfgets\s*\(\s*NAME\b"
    rb"|\bs?scanf\s*\([^;]*&\s*NAME\b"
)
# A self-test within a source file, such as `int dictTest(...)` for `server test dict`.
OF_TEST = lazy(rb"(?:\A|_)tests?(?:_|\Z)|[a-z\d](?:Self|Unit)?Tests?\Z|\A[Tt]est(?=[A-Z_])")
TESTED = rb"\bif\s*\([^;{}]*(?<![\w.>])%b\b"


def check_assertion(site: Site) -> float | None:
    """Report the result of a read, a number from bytes or what a read filled, unless an `if` tests it before."""
    function = site.function
    if function is None or site.source.test or site.arguments.end is None or not site.arguments.spans:
        return None
    if OF_TEST.search(function.name) or not _reads(site, function) or not is_examined(site, "reachable_assertion"):
        return None
    text = site.source.text
    before = text[max(function.body[0], site.start - REACH) : site.start]
    for name in list(dict.fromkeys(NAMES.findall(site.masked(0))))[:NAMES_MAX]:
        word = re.escape(name)
        for shape, moved in ((RESULT, OF_RESULT), (NUMBER, OF_NUMBER), (FILLED, OF_BYTES)):
            made = list(re.finditer(shape.replace(b"NAME", name), before))
            if made and not re.search(TESTED % word, before[made[-1].start() :]):
                return moved
    return None


def _reads(site: Site, function: Function) -> bool:
    """Return whether the function reads anything at all; computed once for all its assertions."""
    readers: dict[int, bool] = site.source.once("functions that read", dict)
    if function.start not in readers:
        readers[function.start] = READS.search(site.source.text, *function.body) is not None
    return readers[function.start]


RULES: tuple[Rule, ...] = (rule("reachable_assertion", check_assertion, calls=ASSERTS, dismisses=reads_nothing),)
