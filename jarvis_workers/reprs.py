"""Show any value in one short line, for messages."""

from reprlib import Repr

NUMBER_BITS = 1_000


class Short(Repr):
    """Shows any value in short; Python refuses to write out a number of thousands of digits."""

    def repr_int(self, x: int, level: int) -> str:
        return super().repr_int(x, level) if x.bit_length() < NUMBER_BITS else "a number with too many digits"


short = Short()
short.maxstring = short.maxother = 60
