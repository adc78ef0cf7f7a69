"""Translation of reports: English texts are the keys, and texts without a translation remain English.

A package has its translations in a file per language, such as zh.json. Names, code and texts of a model are not
translated.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

TRANSLATED = {"zh": "zh-CN"}
# Texts of an HTML template that need translation.
STANDING = re.compile(r"""(?:(?<!kbd)>|\b(?:title|placeholder|aria-label)=")\s*(?P<text>[A-Za-z][^<>"$]*?)\s*[<"]""")
# The texts of a script, and the nouns that it counts.
TRANSLATED_TEXT = re.compile(r'\bsay\("([^"]+)"')
PLACEHOLDER = re.compile(r"\{(\w+)\}")
# A longer line, such as an error with a long path, is not compared with texts.
LINE_MAX = 1000
COUNTED_NOUN = re.compile(r'\bplural\([^"\n]*"([a-z ]+)"\)')


class Words:
    """Translator into one language; `code` is its name in HTML.

    `lines` are texts that results are stored with, their parts filled in.
    """

    def __init__(
        self,
        code: str,
        texts: Mapping[str, str],
        nouns: Mapping[str, str],
        lines: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.code = code
        self._texts, self._nouns = texts, nouns
        self._lines = [(_filled(text), translation) for text, translation in lines.items()]

    def __call__(self, text: str, /, **parts: object) -> str:
        """Return the translated text, with its placeholders filled in if values are given."""
        translation = self._texts.get(text, text)
        return translation.format(**parts) if parts else translation

    def line(self, line: str) -> str:
        """Return a stored line in the language, and so the parts of it that are such lines; any other is unchanged."""
        for pattern, translation in self._lines if len(line) <= LINE_MAX else ():
            if match := pattern.fullmatch(line):
                return translation.format(**{name: self.line(part) for name, part in match.groupdict().items()})
        return line

    def count(self, number: int, noun: str) -> str:
        """Return a number with its noun."""
        if noun in self._nouns:
            return self._nouns[noun].format(number=f"{number:,}")
        return f"{number:,} {noun}{'' if number == 1 else 's'}"

    def of_script(self, script: str, names: Iterable[str] = ()) -> dict[str, str]:
        """Return the translations of names and of the texts of a script; the key of a noun is `{number} noun`."""
        texts = {text: self._texts.get(text) for text in (*TRANSLATED_TEXT.findall(script), *names)}
        texts |= {f"{{number}} {noun}": self._nouns.get(noun) for noun in COUNTED_NOUN.findall(script)}
        return {text: translation for text, translation in texts.items() if translation is not None}


def _filled(text: str) -> re.Pattern[str]:
    """Return the pattern of a text with any parts."""
    literals = PLACEHOLDER.split(text)
    parts = (f"(?P<{one}>.+?)" if number % 2 else re.escape(one) for number, one in enumerate(literals))
    return re.compile("".join(parts), re.DOTALL)


ENGLISH = Words("en", {}, {})


def cost_text(cost: float | None, say: Words = ENGLISH) -> str:
    """Return an amount of dollars in words; None is the cost of answers whose prices are not set."""
    return say("cost unknown: no prices") if cost is None else say("{number} dollars", number=f"{cost:.4f}")


def commit_mark(checkout: Mapping[str, Any]) -> str:
    """Return what follows the commit of a checkout: "+dirty" if other files were scanned than those of the commit.

    It is "+unknown" if git could not tell, and empty for a run of an older version.
    """
    if not checkout.get("commit") or "dirty" not in checkout:
        return ""
    return {True: "+dirty", None: "+unknown"}.get(checkout["dirty"], "")


@cache
def words_in(language: str | None, package: str) -> Words:
    """Return the translator into a language by the file of a package; that into English if the language has no file."""
    if language not in TRANSLATED:
        return ENGLISH
    table = json.loads(files(package).joinpath(f"{language}.json").read_text("utf-8"))
    return Words(TRANSLATED[language], table["texts"], table["nouns"], table.get("lines", {}))


def worded(page: str, say: Words) -> str:
    """Translate the texts and titles of an HTML template."""
    return STANDING.sub(lambda match: match[0].replace(match["text"], say(match["text"])), page)
