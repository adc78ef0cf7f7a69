"""Random C: programs of csmith, and sources with random bytes changed."""

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

# Stands for csmith's own header; calls of functions that it does not declare are warnings.
CSMITH_HEADER = "#include <stdint.h>\n#include <string.h>\n#include <float.h>\nuint32_t crc32_context;\n"
WORDS = (
    b'{ } ( ) [ ] ; , * & = # ## \\\n " \' /* */ // ... ? : -> . 0x 1e9999 0 -1 \'a\' u8"" L"" goto case default: '
    b"int char void long double float struct union enum typedef static extern inline _Generic( _Atomic _Alignas( "
    b'_Static_assert( sizeof( typeof( __attribute__(( packed)) alias("f"))) cleanup(f))) weak)) vector_size(16))) '
    b"#define #undef #include #if #ifdef #else #endif #pragma #line #error __VA_ARGS__ __builtin_va_arg( ({ }) && "
    b"__int128 _Complex __thread asm( register restrict const volatile for(;;) while( do switch( return if( else "
    b"\x00 \xff \xef\xbb\xbf \r ??/ $ @ `"
).split(b" ")


def csmith_program(seed: int, directory: Path) -> bytes:
    """Return the program of csmith for a seed; csmith writes a file into the directory.

    Every second program is small and without the wrappers of its arithmetic.
    """
    small = ["--no-safe-math", "--max-funcs", "3", "--max-block-depth", "2"] if seed % 2 else ["--max-funcs", "6"]
    command = ["csmith", "--seed", str(seed), "--no-argc", *small]
    return subprocess.run(command, cwd=directory, capture_output=True, check=True, timeout=120).stdout


def mutated(source: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """Return a source with one to sixteen random changes, some of them with a piece of another source."""
    words = bytearray(source)
    for _ in range(2 ** chance.randrange(5)):
        begin = chance.randrange(len(words) + 1)
        end = min(len(words), begin + chance.choice((1, 2, 8, 64, 1024)))
        change = chance.randrange(6)
        if change == 0 and words:
            words[begin % len(words)] = chance.randrange(256)
        elif change == 1:
            del words[begin:end]
        elif change == 2:
            words[begin:begin] = words[begin:end] * chance.choice((1, 1, 1, 40))
        elif change == 3:
            words[begin:begin] = b" ".join(chance.choice(WORDS) for _ in range(chance.randrange(1, 5)))
        elif change == 4:
            other = chance.choice(others)
            at = chance.randrange(len(other) + 1)
            words[begin:end] = other[at : at + (end - begin)]
        elif chance.random() < 0.1:
            del words[begin:]
    return bytes(words)
