"""Sanitize untrusted text before a model reads it.

Every line is prefixed with the mark of the conversation; invisible characters and bidirectional controls are
escaped; and the text is searched for lines that look like instructions to a model. The level "block" masks the line,
"review" and "warn" let it pass; each match is recorded as a suspicion with its text, so that no evidence is lost.

The search runs on the joined lines without line numbers and comment markers, to find instructions that are spread over
several lines of a comment; every line of a match is masked.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from jarvis_workers.agents.loop.injection_patterns import PATTERNS, Level

QUOTED = 200
BLANK_SHARE, BLANK_LINES = 0.5, 40
VERY_LONG = 2_000
INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"})
SELECTORS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
CONTROL = re.compile(r"[^\t\n -~]")
LEAD = re.compile(r"^(?:\S{0,300}?:\d+: ?|\s*\d+\| ?)?(?:<!--)?[\s/*#;>-]*")
NUMBER = re.compile(r"^(?:\S{0,300}?:\d+: ?|\s*\d+\| ?)?")


@dataclass(frozen=True)
class Suspicion:
    """A line that looks like an instruction to a model."""

    level: Level
    rule: str
    text: str


class Guard:
    """Sanitizes the untrusted text of one conversation, and collects its suspicions."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.suspicions: list[Suspicion] = []

    def admit(self, text: str) -> str:
        """Return the text for the model: escaped, with suspicious lines masked and each line marked."""
        return self.mark_lines(iter(self.screen(text).split("\n")))

    def admit_claim(self, text: str) -> str:
        """Return what a person says of a finding, as `admit` does; words about verdicts raise no suspicion there."""
        return self.mark_lines(iter(self.screen(text, ignored="review").split("\n")))

    def screen(self, text: str, *, ignored: Level | None = None) -> str:
        """Return a text of another agent: escaped and with suspicious lines masked, but not marked.

        Lines of the level `ignored` are not recorded.
        """
        lines = escape(text).split("\n")
        masked: dict[int, str] = {}
        for level, rule, touched in _suspicious(lines):
            if level == ignored:
                continue
            self.suspicions.append(Suspicion(level, rule, "\n".join(lines[place] for place in touched)[:QUOTED]))
            if level == "block":
                masked |= dict.fromkeys(touched, rule)
        return "\n".join(_mask(line, masked[place]) if place in masked else line for place, line in enumerate(lines))

    def mark_lines(self, lines: Iterator[str]) -> str:
        """Mark lines of untrusted origin, including those that a model has paraphrased."""
        return "\n".join(f"{self.mark}{line}" for line in lines)


def escape(text: str) -> str:
    """Escape invisible characters: controls, zero-width characters, bidirectional controls, unusual line separators."""
    text = text.replace("\r\n", "\n")
    if not CONTROL.search(text):
        return text
    hidden: dict[str, str | int | None] = {letter: _written(letter) for letter in set(text) if _is_hidden(letter)}
    return text.translate(str.maketrans(hidden)) if hidden else text


# Letters of other alphabets that look like Latin ones (confusables of UTS 39).
LOOK_ALIKES = str.maketrans("аеорсухіѕјԁνοαАВЕКМНОРСТХ", "aeopcyxisjdvoaABEKMHOPCTX")
# What splits a word, and shows nothing or not much: escaped zero-width characters, and adjacent literals.
SPLITS_WORDS = re.compile(r"\\(?:u200[b-f]|u206[0-4]|ufeff|xad)|\"[ \t]+\"")


def _is_hidden(letter: str) -> bool:
    if letter in "\t\n":
        return False
    return unicodedata.category(letter) in INVISIBLE or SELECTORS.match(letter) is not None


def _written(letter: str) -> str:
    return letter.encode("unicode_escape", "surrogatepass").decode()


def _suspicious(lines: list[str]) -> Iterator[tuple[Level, str, list[int]]]:
    """Yield the level, the rule and the line indices of each match."""
    starts, joined = _join(lines)
    small = " ".join(joined.lower().split())
    for pattern in PATTERNS:
        if not any(word in small for word in pattern.words):
            continue
        for match in pattern.regex.finditer(joined):
            first, last = (bisect_right(starts, at) - 1 for at in (match.start(), max(match.end() - 1, match.start())))
            yield pattern.level, pattern.rule, list(range(first, last + 1))
    if len(lines) >= BLANK_LINES and sum(not line.strip() for line in lines) > BLANK_SHARE * len(lines):
        yield "warn", "mostly_blank", []
    for place, line in enumerate(lines):
        if len(line) > VERY_LONG:
            yield "warn", "very_long_line", [place]


def _join(lines: list[str]) -> tuple[list[int], str]:
    """Return the offset of each line in the joined text, and the joined text without numbers and comment markers."""
    starts, bare, at = [], [], 0
    for line in lines:
        starts.append(at)
        piece = LEAD.sub("", line, count=1)
        if not piece.isascii():
            piece = unicodedata.normalize("NFKC", piece).translate(LOOK_ALIKES)
        piece = SPLITS_WORDS.sub("", piece)
        bare.append(piece)
        at += len(piece) + 1
    return starts, "\n".join(bare)


def _mask(line: str, rule: str) -> str:
    number = NUMBER.match(line)
    return f"{number[0] if number else ''}[line masked: it looks like an instruction to a model ({rule})]"
