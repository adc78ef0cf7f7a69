"""The compiler that inserts slots into the programs that it compiles: `make CC="jarvis c2rust cc"`.

Variables: JARVIS_C2RUST_CC is the underlying compiler (cc), JARVIS_C2RUST_ROOT the project root that unit names are
relative to, JARVIS_C2RUST_CACHE the directory of the compiled runtime.
"""

import hashlib
import os
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from jarvis_workers.builds.command_words import expand_responses
from jarvis_workers.c2rust.slot_build import (
    SlotBuild,
    SourceInput,
    link_flags,
    plan_build,
    slot_flags,
    without_version_scripts,
)
from jarvis_workers.c2rust.slots import MACHINES, add_slots
from jarvis_workers.errors import JarvisError, UsageError
from jarvis_workers.paths import as_text, from_text, plain
from jarvis_workers.source.identity import code_fingerprint
from jarvis_workers.toolchain.cc import CompilerFacts, compiler_facts, run_compiler, target_flags
from jarvis_workers.toolchain.temporary import temporary_directory

# The code that decides what the programs of a build are.
SLOT_CODE = (
    "jarvis_workers.builds.command_words",
    "jarvis_workers.builds.compile_arguments",
    "jarvis_workers.c2rust.assembly",
    "jarvis_workers.c2rust.slot_build",
    "jarvis_workers.c2rust.slots",
    "jarvis_workers.c2rust.bench.slot_compiler",
    "jarvis_workers.c2rust.bench.runtime",
)
TEMPORARY = "jarvis-cc"
RUNTIME = Path(__file__).parent / "runtime" / "runtime.c"
RUNTIME_FLAGS = ("-O2", "-fPIC", "-fvisibility=hidden", "-g0")


def own_code() -> str:
    """Return the hash of the code that determines how the programs are built."""
    try:
        return code_fingerprint(SLOT_CODE)
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be read: {error.strerror}") from error


def compile_with_slots(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Compile with these arguments and insert slots; return the exit code.

    Raises JarvisError for a compiler or machine for which slots are not supported.
    """
    compiler = shlex.split(environ.get("JARVIS_C2RUST_CC") or "cc")
    try:
        build = plan_build(expand_responses(arguments, _response))
    except ValueError as error:
        raise UsageError(f"{compiler[0]}: {plain(str(error))}") from error
    if build is None:
        return run_compiler([*compiler, *arguments], environ)
    facts = compiler_facts(compiler, build.flags, environ)
    if facts.machine not in MACHINES:
        raise JarvisError(f"{compiler[0]}: slots are not supported on {facts.machine}, only on {', '.join(MACHINES)}")
    with temporary_directory(TEMPORARY) as directory:
        return _Builder(compiler, environ, facts, build, directory).run()


def _response(name: str) -> str | None:
    with suppress(OSError):
        return Path(name).read_text(errors="surrogateescape")
    return None


class _Builder:
    def __init__(
        self,
        compiler: Sequence[str],
        environ: Mapping[str, str],
        facts: CompilerFacts,
        build: SlotBuild,
        directory: Path,
    ) -> None:
        self._compiler, self._environ, self._facts = compiler, environ, facts
        self._build, self._directory = build, directory

    def run(self) -> int:
        objects: list[str] = []
        for number, one in enumerate(self._build.inputs):
            made = one.object or str(self._directory / f"{number}.o")
            code = self._compile(one, made)
            if code:
                return code
            objects.append(made)
        return self._link(objects) if self._build.link is not None else 0

    def _compile(self, one: SourceInput, made: str) -> int:
        language = ["-x", one.language] if one.language else []
        source = [*language, one.source, *self._build.dependency_flags(one)]
        if not one.takes_slots:
            return self._call([*self._build.flags, *source, "-c", "-o", made])
        assembly = self._assembly(one)
        flags = [*self._build.flags, *slot_flags(self._facts.family, self._facts.version), *self._build.debug_flags]
        try:
            code = self._call([*flags, *source, "-S", "-o", str(assembly)])
            if code:
                return code
            self._edit(assembly, one.source)
            return self._call([*self._build.assembler_flags, "-c", str(assembly), "-o", made])
        finally:
            assembly.unlink(missing_ok=True)

    def _assembly(self, one: SourceInput) -> Path:
        """Return the path for the assembly. Coverage files are named after it, so it is next to the object."""
        beside = Path(one.object or Path(one.source).name).with_suffix(".s")
        return beside if self._build.measures_coverage and not beside.exists() else self._directory / "unit.s"

    def _edit(self, assembly: Path, source: str) -> None:
        text = as_text(assembly.read_bytes())
        root = self._environ.get("JARVIS_C2RUST_ROOT", "")
        slotted = add_slots(text, machine=self._facts.machine, source=str(Path.cwd() / source), root=root)
        assembly.write_bytes(from_text(slotted.text))

    def _link(self, objects: Sequence[str]) -> int:
        assert self._build.link is not None
        words = [objects[word] if isinstance(word, int) else word for word in self._build.link]
        if not self._build.takes_runtime:
            return self._call(words)
        cache = Path(self._environ.get("JARVIS_C2RUST_CACHE") or Path.home() / ".cache" / "jarvis-workers")
        runtime = runtime_object(self._compiler, self._build.flags, self._environ, cache)
        words += [str(runtime), *link_flags(self._build)]
        visible = without_version_scripts(words)
        if visible != words and not self._call(visible):
            return 0
        return self._call(words)

    def _call(self, words: Sequence[str]) -> int:
        return run_compiler([*self._compiler, *words], self._environ)


def runtime_object(compiler: Sequence[str], flags: Sequence[str], environ: Mapping[str, str], cache: Path) -> Path:
    """Return the object file of the slot runtime for this compiler and target, compiled on first use.

    The flags that select the target are part of the cache key, as are the compiler's name and the runtime's source.
    """
    command = [*compiler, *target_flags(flags), *RUNTIME_FLAGS]
    parts = [part.read_text() for part in sorted(RUNTIME.parent.glob("*.c"))]
    key = hashlib.sha256("\0".join([*command, *parts]).encode()).hexdigest()
    target = cache / f"runtime-{key[:32]}.o"
    if target.exists():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=".runtime-", suffix=".o", dir=cache)
    os.close(descriptor)
    try:
        if run_compiler([*command, "-c", str(RUNTIME), "-o", name], environ):
            raise JarvisError(f"{compiler[0]}: cannot compile the slot runtime {RUNTIME}")
        Path(name).rename(target)
    finally:
        Path(name).unlink(missing_ok=True)
    return target
