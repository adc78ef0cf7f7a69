"""What a person sees of a streamed answer: not the blocks that are for the program.

A line that may become a tool call in text form, or the completion mark, is held back until it is clear what it is.
"""

from jarvis_workers.agents.loop.loop import COMPLETE
from jarvis_workers.agents.loop.text_tool_call import TAG

CALL = f"<{TAG} "


class AnswerText:
    """The text of one answer; `add` and `end` return what may be shown now."""

    def __init__(self) -> None:
        self._line = ""
        self._is_call = self._is_shown = False

    def add(self, text: str) -> str:
        """Add a piece of the answer."""
        return "".join(map(self._add_part, text.splitlines(keepends=True)))

    def end(self) -> str:
        """End the answer."""
        line, self._line = self._line, ""
        return "" if line.strip() == COMPLETE else line

    def _add_part(self, part: str) -> str:
        if self._is_call:
            return ""
        if self._is_shown:
            self._is_shown = not part.endswith("\n")
            return part
        self._line += part
        return self._decide()

    def _decide(self) -> str:
        """Return the line so far, if it can be neither a call nor the completion mark."""
        line = self._line
        if line.startswith(CALL):
            self._is_call, self._line = True, ""
            return ""
        is_ended = line.endswith("\n")
        if CALL.startswith(line) or line.strip() == COMPLETE or (COMPLETE.startswith(line.strip()) and not is_ended):
            return ""
        self._line, self._is_shown = "", not is_ended
        return line
