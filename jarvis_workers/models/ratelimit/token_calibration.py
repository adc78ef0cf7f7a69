"""Calibrate token estimates with the counts that servers report: exponentially weighted moving average of the ratio."""

from dataclasses import dataclass

# The weight of the newest report: after five reports, the initial ratio has a weight of a sixth.
NEWEST_WEIGHT = 0.3
# Smaller estimates are too noisy to calibrate with; the ratio of one report is clamped to these bounds.
LEAST_TOKENS = 50
LEAST_RATIO, LARGEST_RATIO = 0.25, 4.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """The average ratio of reported to estimated tokens."""

    ratio: float = 1.0

    def tokens(self, estimated: int) -> int:
        """Return the corrected estimate."""
        return round(estimated * self.ratio)

    def learn(self, estimated: int, reported: int) -> "Calibration":
        """Return the calibration after one report; reports without tokens and small estimates are ignored."""
        if estimated < LEAST_TOKENS or reported <= 0:
            return self
        seen = min(max(reported / estimated, LEAST_RATIO), LARGEST_RATIO)
        return Calibration(self.ratio + NEWEST_WEIGHT * (seen - self.ratio))
