"""The options of a run about one finding of an earlier run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.sec.finding import Candidate

if TYPE_CHECKING:
    from jarvis_workers.agents.tools.tool import Language

ASK, DISPUTE = "ask", "dispute"


def _candidate(fields: Mapping[str, Any]) -> Candidate:
    return Candidate(**fields)


@dataclass(frozen=True, kw_only=True)
class DiscussionOptions(ConversationOptions):
    """Options of a run about a finding: the candidate, the condition to verify, the earlier verdict as text, and what a
    person asks or claims; `notes` are the user's statements about the threat model.
    """

    finding: str = ""
    candidate: Candidate = field(metadata={"read": _candidate})
    verification: str = ""
    verdict: str = ""
    text: str = ""
    notes: str = ""
    lang: "Language" = "en"
