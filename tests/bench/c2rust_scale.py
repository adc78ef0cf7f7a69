"""How long a large unit takes before a model is asked: `python -m tests.bench.c2rust_scale TREE`.

Prints seconds and megabytes for translation and signatures, `cargo check` of all shims and forwarders, the plan of the
translation jobs, and the CPU milliseconds of a question for each function.
"""

import argparse
import platform
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import monotonic, process_time
from typing import TypeVar

from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.builds.project_archive import pack_project
from jarvis_workers.c2rust.bench.project_bench import ProjectBuild, open_bench
from jarvis_workers.c2rust.crate import CrateItem
from jarvis_workers.c2rust.shims import forward_project
from jarvis_workers.c2rust.signatures import propose_mappings
from jarvis_workers.c2rust.stages.project_skeleton import project_skeleton, translation_targets
from jarvis_workers.c2rust.stages.rustc_checks import check_bodies
from jarvis_workers.c2rust.stages.skeleton import all_declarations, decode_skeleton, encode_skeleton
from jarvis_workers.c2rust.stages.translation_input import question_of
from jarvis_workers.sandbox.limits import BenchLimits
from tests.bench.c2rust_projects import COMMANDS, MOST_MEGABYTES, read_library

T = TypeVar("T")
LIMITS = BenchLimits(1800, 600, 4096, 8192)
QUESTIONS = 200


def main() -> None:
    """Measure a tree."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tree", type=Path)
    tree = parser.parse_args().tree.resolve()
    commands = COMMANDS[tree.name]
    with tempfile.TemporaryDirectory() as place:
        data = Path(place)
        translated, _ = measured("translate", lambda: read_library(tree, commands, data))
        mappings = measured("mappings", lambda: propose_mappings(translated.project.units))
        forwarded = measured("shims", lambda: forward_project(translated, mappings, set()))
        archive = pack_project(tree, MOST_MEGABYTES)
        build = ProjectBuild(archive, BuildCommands(commands.configure, commands.build), (), commands.tests)
        with open_bench(data, build, LIMITS) as bench:
            texts: dict[str, CrateItem] = {one.item.slot: one.crate_item() for one in forwarded.functions if one.body}
            all_declared = list(forwarded.declarations().values())
            checks = measured("cargo check", lambda: check_bodies(bench, forwarded.types, all_declared, texts))
            print(f"{len(texts)} functions with a signature, {len(checks.errors)} rejected")
            skeleton = project_skeleton(translated, bench, (), translation_targets(forwarded, translated))
        encoded = measured("encode", lambda: encode_skeleton(skeleton))
        skeleton = measured("decode", lambda: decode_skeleton(encoded))
    chosen = sorted(skeleton.targets)[:: max(1, len(skeleton.targets) // QUESTIONS)]
    texts_of_c = dict.fromkeys(chosen, "int f(int a) { return a; }")

    declarations = all_declarations(skeleton)

    def ask() -> int:
        return sum(len(question_of(skeleton, slot, texts_of_c[slot], declarations).c) for slot in chosen)

    began = process_time()
    measured("questions", ask)
    print(f"{1000 * (process_time() - began) / len(chosen):.1f} ms CPU a question, of {len(chosen)}")
    print(f"{len(skeleton.functions)} functions, {len(encoded) / 1e6:.1f} MB, {platform.machine()}")


def measured(name: str, work: Callable[[], T]) -> T:
    began, cpu = monotonic(), process_time()
    result = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name}: {monotonic() - began:.1f} s, {process_time() - cpu:.1f} s CPU, {peak:.0f} MB", flush=True)
    return result


if __name__ == "__main__":
    main()
