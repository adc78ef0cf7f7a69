"""Estimate tokens without a tokenizer, which would want its tables from the net.

A word of letters is a token per `LETTERS` letters or part of them, three digits are one, so is a run of two
marks, a letter of Chinese, and a line's indentation.  What a provider reports corrects the rest: `Calibration`
keeps the ratio.
"""

import re
from dataclasses import dataclass

LETTERS = 7
PIECE = re.compile(rf" ?+[A-Za-z]{{1,{LETTERS}}}+|\d{{1,3}}+| ?+[!-/:-@\[-`{{-~]{{1,2}}+|\s{{1,16}}+|[^\x00-\x7f]")
WEIGHT_OF_NEWS = 0.3
PER_MESSAGE = 4


def estimate(text: str) -> int:
    """Return about how many tokens a text is."""
    return len(PIECE.findall(text))


@dataclass(frozen=True, slots=True)
class Calibration:
    """The ratio of reported tokens to estimated ones, as it was seen so far."""

    ratio: float = 1.0

    def tokens(self, estimated: int) -> int:
        return round(estimated * self.ratio)

    def learn(self, estimated: int, reported: int) -> "Calibration":
        """Take in one report; what is absurd (a server that counts otherwise) moves it little."""
        if estimated < 50 or reported <= 0:
            return self
        seen = min(max(reported / estimated, 0.25), 4.0)
        return Calibration(self.ratio + WEIGHT_OF_NEWS * (seen - self.ratio))
