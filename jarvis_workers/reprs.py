"""Short representations of any value, for messages."""

from reprlib import Repr

NUMBER_BITS = 1_000


class Short(Repr):
    """A repr of one short line; Python refuses to format integers of thousands of digits."""

    def repr_int(self, x: int, level: int) -> str:
        return super().repr_int(x, level) if x.bit_length() < NUMBER_BITS else "a number with too many digits"


short = Short()
short.maxstring = short.maxother = 60
