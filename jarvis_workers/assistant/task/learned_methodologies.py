"""The methodologies that a conversation saves: its commit has them, and the command of the run stores them."""

from collections.abc import Iterable, Sequence

from jarvis_workers.agents.loop.transcript import read_line
from jarvis_workers.assistant.methodology import SAVE_METHODOLOGY, Methodology


class LearnedMethodologies:
    """A book (`assistant.methodology`) in memory; it begins with what an interrupted conversation has saved."""

    def __init__(self, transcript: Iterable[bytes]) -> None:
        self._saved: dict[str, Methodology] = {}
        for record in filter(None, map(read_line, transcript)):
            if record["kind"] == "result" and record["of"] == SAVE_METHODOLOGY and record["outcome"]["state"] == "done":
                self.add(Methodology.model_validate(record["arguments"]))

    def read(self) -> Sequence[Methodology]:
        return tuple(self._saved.values())

    def add(self, methodology: Methodology) -> None:
        self._saved[methodology.problem_type] = methodology

    def encode(self) -> list[dict[str, str]]:
        """Return the methodologies for JSON."""
        return [methodology.model_dump() for methodology in self._saved.values()]
