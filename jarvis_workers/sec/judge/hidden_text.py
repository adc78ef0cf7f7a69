"""Find text in code that is there for a reader and not for the compiler, and code that a reader does not see.

Prose outside comments and literals, such as under a macro that nothing defines, reads like a remark on the code. Code
far to the right, or behind a carriage return in a comment, changes what the visible lines mean. Both stay as they are;
a candidate whose code has them is not dismissed.
"""

import re
from collections.abc import Iterable, Iterator

from jarvis_workers.agents.loop.untrusted_text import QUOTED, Suspicion, escape
from jarvis_workers.sec.judge.slices import Slice, SourceFile
from jarvis_workers.sec.judge.slices.keywords import KEYWORDS
from jarvis_workers.sec.judge.slices.views import DIRECTIVE

# Consecutive words with nothing but white space between them, and how many of them are in lower case and no keywords.
WORDS_MIN, PLAIN_MIN = 5, 4
WORDS = re.compile(rf"(?<!\w)[A-Za-z]{{1,24}}(?:\s+[A-Za-z]{{1,24}}){{{WORDS_MIN - 1},}}(?!\w)")
WORD = re.compile(r"\b[a-z]{2,}\b")
IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]{6,}")
FAR_RIGHT = re.compile(r"\S[ \t]{100,}\S")


def hidden_in(code: Slice) -> list[Suspicion]:
    """Return what is hidden in the parts of a slice."""
    found = (one for part in code.parts for one in hidden_text(part.file, part.looked_at()))
    return list(dict.fromkeys(found))


def hidden_text(file: SourceFile, ranges: Iterable[tuple[int, int]]) -> Iterator[Suspicion]:
    """Yield what is hidden in some lines of a file: `ranges` have their first and last lines."""
    masked = file.masked.split(b"\n")
    for first, last in ranges:
        # no view shows the text of #error and similar directives
        code = DIRECTIVE.sub(b"#", b"\n".join(masked[first - 1 : last])).decode("utf-8", "replace")
        for match in (*_prose(code, file.language), *IDEOGRAPHS.finditer(code)):
            yield _suspicion("prose_in_code", match[0])
        for line in file.raw[first - 1 : last]:
            if gap := FAR_RIGHT.search(line):
                yield _suspicion("code_far_to_the_right", line[gap.end() - 1 :])
    if file.hides_lines:
        yield _suspicion("carriage_return_in_comment", file.path)


def has_prose(text: str) -> bool:
    """Return whether a text that is no code, such as the output of a program, contains prose."""
    return any(_prose(text, "c/cpp")) or IDEOGRAPHS.search(text) is not None


def _prose(code: str, language: str) -> Iterator[re.Match[str]]:
    for match in WORDS.finditer(code):
        plain = [word for word in WORD.findall(match[0]) if word not in KEYWORDS[language]]
        if len(plain) >= PLAIN_MIN:
            yield match


def _suspicion(rule: str, text: str) -> Suspicion:
    return Suspicion("review", rule, escape(" ".join(text.split()))[:QUOTED])
