"""Comments and literals of C as one pattern, for all that reads C text before its literals are masked."""

import re

BLANK = bytes(10 if byte == 10 else 32 for byte in range(256))

# A backslash followed only by white space joins two lines, as in gcc and clang.
SPLICE = rb"\\[ \t\f\v]*+\r?\n"
ESCAPE = rb"\\(?:[^\s\\]|[ \t\f\v]*+\r?\n|(?>%b)*+[^\n])" % SPLICE
# Each alternative begins with a distinct literal byte, so that the search for the next match runs at full speed.
C_TOKEN = re.compile(
    rb"""
      "(?:(?<=R")(?:(?<=\bR")|(?<=\b[LuU]R")|(?<=\bu8R"))(?P<delimiter>[^\s()\\"]{0,16})
          \([^)]*+(?>\)(?!(?P=delimiter)")[^)]*+)*+(?:\)(?P=delimiter)"|(?P<unclosed_raw>))
        |[^"\\\n]*+(?>%(escape)b[^"\\\n]*+)*+(?:"|(?P<unclosed>)))
    | '(?:(?<=[0-9a-fA-F]')(?<!\bcase')(?<!\bu8')(?=[0-9a-fA-F])(?P<digit_separator>)
        |[^'\\\n]*+(?>%(escape)b[^'\\\n]*+)*+(?:'|(?P<unclosed_char>)))
    | /(?>%(splice)b)*+(?:/[^\\\n]*+(?>\\(?>[ \t\f\v]*+\r?\n)?+[^\\\n]*+)*+
        |\*[^*]*+(?>\*++(?!(?>%(splice)b)*+/)[^*]++)*+(?:\*++(?>%(splice)b)*+/|\**+\Z))
    """
    % {b"splice": SPLICE, b"escape": ESCAPE},
    re.VERBOSE | re.DOTALL,
)
