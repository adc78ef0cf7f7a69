"""Fuzz one target, guided by coverage: `python -m tests.fuzz flow --seconds 180`.

It looks for faults and inputs that take longer than LIMIT; either one ends it with an exit code other than 0, and the
input is stored in the directory of `--found`. The initial corpus is tests/data.  Needs the extra `fuzz` (atheris).
"""

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

LIMIT_SECONDS = 5
LENGTH_MAX = 16_384
TARGETS = ("lexer", "model", "rules", "flow")
# What code is made of, for those changes that put a word where one was.
WORDS = """if ( else { } for (;;) while ( do switch ( case default: break; continue; goto return ; struct : public
    class static template < > namespace :: -> [ ] * & && || ! = == <= ++ -- << ? , . sizeof( (char *) 0 -1 0x7fffffff
    NULL "%s" malloc( calloc( realloc( free( fopen( fclose( strcpy( memcpy( system( printf( fgets( atoi( new delete[]
    throw try catch ( #if #ifdef #else #endif #define #include /* */ // \\ ' extern fn unsafe impl"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz one target.")
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60, help="how long (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default: 1)")
    parser.add_argument("--found", type=Path, default=Path(tempfile.gettempdir()), help="where a bad input is written")
    return parser.parse_args()


def escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace('"', '\\"')


def main() -> None:
    given = arguments()
    try:
        import atheris
    except ImportError:
        sys.exit("tests.fuzz: atheris is not installed; install the extra: pip install -e '.[fuzz]'")
    with atheris.instrument_imports(include=["jarvis_workers"]):
        targets = importlib.import_module("tests.fuzz.targets")
    given.found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        words = Path(place) / "words"
        words.write_text("".join(f'"{escaped(word)}"\n' for word in WORDS.split()))
        grown = Path(place) / "grown"
        grown.mkdir()
        options = {
            "max_total_time": given.seconds,
            "timeout": LIMIT_SECONDS,
            "seed": given.seed,
            "max_len": LENGTH_MAX,
            "artifact_prefix": f"{given.found}/{given.target}-",
            "dict": words,
            "print_final_stats": 1,
        }
        flags = [f"-{name}={value}" for name, value in options.items()]
        atheris.Setup([sys.argv[0], *flags, str(grown), str(targets.CORPUS)], targets.TARGETS[given.target])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
