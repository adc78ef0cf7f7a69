"""Reports that are requested as YAML, and read in each form in which models write it."""

import re
from typing import Any

from jarvis_workers.agents.loop.repair import BODY_MAX
from jarvis_workers.agents.loop.report import BadReport, ReportForm, Way
from jarvis_workers.models.platforms.profiles import Profile

YAML_TAG = re.compile(r"</?[ \t]*yaml[ \t]*>", re.IGNORECASE)
YAML_FENCE = re.compile(r"^```[ \t]*(?:ya?ml|json)[ \t]*\n(.*?)\n```[ \t]*$", re.DOTALL | re.MULTILINE | re.IGNORECASE)


class YamlForm(ReportForm):
    """The form of an answer: YAML in tags, also within <yaml>, a YAML fence between prose, or JSON."""

    def way(self, profile: Profile, *, has_tools: bool) -> Way:
        """Request text unless the model supports schemas: text is read in every form, other than a tool call."""
        return "schema" if super().way(profile, has_tools=has_tools) == "schema" else "tags"

    def read_text(self, answer: str) -> Any:
        if len(answer) > BODY_MAX:
            raise BadReport(f"the answer is longer than {BODY_MAX:,} characters")
        text = YAML_TAG.sub("\n", answer)
        try:
            return super().read_text(text)
        except BadReport:
            fences = YAML_FENCE.findall(text)
            if len(fences) != 1 or f"<{self.tag}>" in text:
                raise
            return super().read_text(f"<{self.tag}>\n{fences[0]}\n</{self.tag}>")
