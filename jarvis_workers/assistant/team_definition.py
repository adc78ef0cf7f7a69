"""The definition of a team: its agents, and which of them gets the task first."""

from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, StringConstraints, model_validator

# Without control characters, and the texts without NUL, which the results store cannot hold.
Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80, pattern=r"\A[^\x00-\x1f\x7f-\x9f]+\z")
]
Text = Annotated[str, StringConstraints(pattern=r"\A[^\x00]*\z")]
AGENTS_MAX = 100
Bound = Annotated[int, Field(ge=1, le=1000)]


class TeamPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class TeamMember(TeamPart):
    """An agent of a team; the names and meanings of its fields are those of the seed documents (004, 7).

    `use_tools` are the names of its tools, None for all. Only the main agent may have `auto_complete`.
    """

    name: Name
    description: Text = ""
    system_prompt: Text = ""
    use_tools: tuple[str, ...] | None = None
    auto_complete: bool = False
    in_multi_agent: Literal[True] = True
    summary_on_send: bool = True
    clear_after_send_message: bool = False


class TeamDefinition(TeamPart):
    """A team. A task ends after `max_hops` messages, or when a message was sent `max_repeats` times to the same agent.

    Raises ValidationError for an ambiguous or unknown name, and for a team of one.
    """

    agents: tuple[TeamMember, ...] = Field(
        validation_alias=AliasChoices("agents", "agents_config"), max_length=AGENTS_MAX
    )
    main_agent_name: Name
    common_system_prompt: Text = ""
    max_hops: Bound = 50
    max_repeats: Bound = 3

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        names = Counter(member.name for member in self.agents)
        if repeated := [name for name, count in names.items() if count > 1]:
            raise ValueError(f'two agents are called "{repeated[0]}"; messages need unique names')
        if self.main_agent_name not in names:
            raise ValueError(f'main_agent_name: there is no agent "{self.main_agent_name}" among {", ".join(names)}')
        if len(names) == 1:
            raise ValueError(f'"{self.main_agent_name}" is the only agent, and has nobody to send to; add another one')
        return self

    def find(self, name: str) -> TeamMember:
        """Return the agent with this name, which must exist."""
        return next(member for member in self.agents if member.name == name)
