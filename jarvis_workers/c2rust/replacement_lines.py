"""Write the results of library replacement: the lines of library_replacements.jsonl, and the counts of a run."""

import json
from collections.abc import Callable, Iterator

from pydantic import BaseModel, ConfigDict

from jarvis_workers.c2rust.library_pruning import PrunedGraph, Verdicts
from jarvis_workers.paths import shown


class ReplacementCounts(BaseModel):
    """The numbers of functions judged, replaced, pruned, and remaining, which include those that libraries replace."""

    model_config = ConfigDict(frozen=True)

    judged: int
    replaced: int
    pruned: int
    remaining: int

    @classmethod
    def of(cls, pruned: PrunedGraph, verdicts: Verdicts) -> "ReplacementCounts":
        """Return the counts of a run."""
        remaining = sum(symbol.category == "function" for symbol in pruned.graph.symbols)
        judged = sum(one.checked for one in verdicts.values())
        return cls(judged=judged, replaced=len(pruned.replaced), pruned=len(pruned.pruned), remaining=remaining)

    def line(self, say: Callable[..., str] = str.format) -> str:
        """Return the counts for a person; `say` translates a text and fills in its placeholders."""
        return say(
            "{judged} of {functions} functions judged: {replaced} replaced by libraries, "
            "{pruned} pruned, {rest} left to translate",
            judged=f"{self.judged:,}",
            functions=f"{self.remaining + self.pruned:,}",
            replaced=f"{self.replaced:,}",
            pruned=f"{self.pruned:,}",
            rest=f"{self.remaining - self.replaced:,}",
        )


def replacement_lines(pruned: PrunedGraph) -> Iterator[str]:
    """Yield a line per function that libraries replace, with its name, location and `lib_replacement`."""
    for number in pruned.replaced:
        symbol = pruned.graph.by_id[number]
        fields = {
            "id": symbol.id,
            "name": symbol.name,
            "qualified_name": symbol.qualified_name,
            "file": shown(symbol.extent.file),
            "start_line": symbol.extent.line,
            "signature": symbol.signature,
            **(symbol.replacement.fields() if symbol.replacement else {}),
        }
        yield json.dumps(fields, ensure_ascii=False).encode("utf-8", "backslashreplace").decode() + "\n"
