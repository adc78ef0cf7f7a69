"""The compilers with which proofs are built, gcc and clang: their commands, and the flags that differ.

All objects of a bench are linked with the sanitizers of one of them: gcc, unless the tree's build calls clang, `CC` of
this process names it, or gcc has no sanitizers.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from jarvis_workers.sec.proof.proof import SANITIZERS

Family = Literal["gcc", "clang"]

SANITIZE = f"{SANITIZERS} -fno-sanitize=alignment,vptr{{others}} -fno-sanitize-recover=null"
# In DWARF 5 of gcc, addr2line takes functions in headers for those of the file that includes them.
COMPILE = (
    "-g{debug} -w -fno-inline -fno-omit-frame-pointer -fno-optimize-sibling-calls -ffunction-sections -U_FORTIFY_SOURCE"
)
# Names by which a build calls a compiler, versions such as clang-14 included.
FRONT_ENDS = ("cc", "gcc", "clang", "c99", "c89")
CPP_FRONT_ENDS = ("c++", "g++", "clang++")
VERSIONS = range(9, 31)
SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".C")
# Files in the directory of tools: what is linked with each program, and with fuzz targets; the name of the compiler
# whose sanitizers are needed.
SUPPORT_OBJECT, FUZZ_OBJECT, NEEDED = "support.o", "fuzz_main.o", "compiler"
# libFuzzer is left out, since not all compilers have it, and its main function replaced by that of fuzz targets.
# A build that compiles and links in one command leaves no objects, with which harnesses are linked: they are compiled
# again, but for the programs with which a configuration tries the compiler.
WRAPPER = """\
#!/bin/sh
keep() {{
  source=$1 left=$# skip=
  shift
  while [ $((left -= 1)) -gt 0 ]; do
    word=$1
    shift
    case ${{skip:-$word}} in
      -o) skip=;;
      *{suffixes}|-o*|-l*|-L*|-Wl,*|*.o|*.a|*.so|-shared) ;;
      *) set -- "$@" "$word";;
    esac
    [ "$word" != -o ] || skip=-o
  done
  object={objects}/$(printf '%s\\n' "$source" "$@" | cksum | tr ' ' -).o
  {compiler} "$@" {flags} -c "$source" -o "$object" 2>/dev/null
}}
kind=program fuzz=
for word; do
  shift
  case $word in
    -c|-S|-E|-M|-MM|-r|-fsyntax-only|--version|-v|-dump*|-print*|--print*) kind=other;;
    -shared) kind=library;;
    -fsanitize=*fuzzer*)
      case $word in *fuzzer-no-link*) ;; *) fuzz={fuzz_main};; esac
      word=$(printf %s "$word" | sed 's/fuzzer-no-link//; s/fuzzer//; s/,,/,/; s/=,/=/; s/,$//')
      [ "$word" != -fsanitize= ] || continue;;
  esac
  set -- "$@" "$word"
done
{mark}
case $kind in
  program) {compiler} "$@" {flags} $fuzz {support} {static} -rdynamic || exit;;
  library) {compiler} "$@" {flags} || exit;;
  *) exec {compiler} "$@" {flags};;
esac
for word; do
  case $word in
    *conftest*|*CMakeFiles*|*meson-private*) ;;
    *{suffixes}) [ ! -f "$word" ] || keep "$word" "$@";;
  esac
done
exit 0
"""
# The sanitizers are libraries of their own, which may be missing beside a compiler.
PROBE = """\
printf 'int main(void) {{ return 0; }}' > {tools}/probe.c
{compiler} {sanitize} {static} {tools}/probe.c -o {tools}/probe
"""


class ProofCompiler(NamedTuple):
    """A compiler: its commands for C and C++, and its flags.

    `sanitize` and `compile` are those of all files, `static` links the sanitizers into a program, `harness` are those
    of a harness after preprocessing: messages about it quote no line of a header, which may have comments.
    """

    family: Family
    c: str
    cpp: str
    sanitize: str
    compile: str
    static: str
    harness: str

    @property
    def flags(self) -> str:
        return f"{self.sanitize} {self.compile}"

    def probe(self, tools: str) -> str:
        """Return a script that fails if the compiler has no sanitizers."""
        return PROBE.format(tools=tools, compiler=self.c, sanitize=self.sanitize, static=self.static)

    def command(self, *, is_cpp: bool) -> str:
        """Return the command for a language."""
        return self.cpp if is_cpp else self.c


GCC = ProofCompiler(
    "gcc",
    "gcc",
    "g++",
    SANITIZE.format(others=""),
    f"{COMPILE.format(debug='dwarf-4 -O1')} -fkeep-static-functions",
    "-static-libasan -static-libubsan",
    "-ftrivial-auto-var-init=zero -fpreprocessed -fno-diagnostics-show-caret",
)
# Without optimization: with it, clang changes static functions that harnesses call.  It links its sanitizers statically
# by itself, and counts calls through pointers of another type as undefined behavior.
CLANG = ProofCompiler(
    "clang",
    "clang",
    "clang++",
    SANITIZE.format(others=",function"),
    COMPILE.format(debug="dwarf-4 -O0"),
    "",
    "-ftrivial-auto-var-init=zero -enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang"
    " -fno-caret-diagnostics",
)
COMPILERS: Mapping[Family, ProofCompiler] = {"gcc": GCC, "clang": CLANG}
# Marks what an input reaches, for libFuzzer.
COVERED = CLANG._replace(sanitize=f"{CLANG.sanitize} -fsanitize=fuzzer-no-link")
LIBFUZZER = "-fsanitize=fuzzer"
NAMES = " or ".join(COMPILERS)


def installed_compilers(environ: Mapping[str, str] | None = None) -> list[ProofCompiler]:
    """Return the installed compilers, the preferred one first: clang if `CC` names it, else gcc."""
    chosen = Path((os.environ if environ is None else environ).get("CC", "")).name
    ordered = [CLANG, GCC] if chosen.startswith("clang") else [GCC, CLANG]
    return [one for one in ordered if shutil.which(one.c)]


def called_by(name: str, usable: Sequence[ProofCompiler]) -> ProofCompiler:
    """Return the compiler for a name by which a build calls one: that of this name if it is usable, else the first."""
    is_named = {"clang": CLANG, "clang++": CLANG, "gcc": GCC, "g++": GCC}.get(name.partition("-")[0])
    return is_named if is_named and is_named in usable else usable[0]


def wrappers(usable: Sequence[ProofCompiler], tools: Path, objects: Path) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of commands that compile with sanitizers; `tools` is the directory of their files.

    `objects` gets the objects of commands that leave none.

    A compiler that is not the first leaves its name there: objects of both are linked with its sanitizers.
    """
    for name, is_cpp in _names():
        compiler = called_by(name, usable)
        yield (
            name,
            WRAPPER.format(
                compiler=f"/usr/bin/{compiler.command(is_cpp=is_cpp)}",
                flags=compiler.flags,
                support=tools / SUPPORT_OBJECT,
                fuzz_main=tools / FUZZ_OBJECT,
                static=compiler.static,
                objects=objects,
                suffixes="|*".join(SUFFIXES),
                mark=f"printf {compiler.family} > {tools / NEEDED}" if compiler != usable[0] else "",
            ),
        )


def _names() -> list[tuple[str, bool]]:
    """Return the names by which builds call compilers, and whether each compiles C++."""
    plain = [(name, False) for name in FRONT_ENDS] + [(name, True) for name in CPP_FRONT_ENDS]
    versioned = ((f"{name}-{number}", is_cpp) for name, is_cpp in plain for number in VERSIONS)
    return plain + [(name, is_cpp) for name, is_cpp in versioned if shutil.which(name)]
