"""How many tokens a server counts for one that is estimated, as it was seen so far."""

from dataclasses import dataclass

WEIGHT_OF_NEWS = 0.3


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
