"""The options of runs in which a model plans the modules and signatures of a crate."""

from dataclasses import dataclass
from typing import Annotated

from jarvis_workers.agents.conversations.options import ConversationOptions
from jarvis_workers.c2rust.stages.fast_options import FastOptions
from jarvis_workers.option import Option


@dataclass(frozen=True, kw_only=True)
class PrepareOptions(FastOptions, ConversationOptions):
    """A model answers at most 1 + `plan_max_retries` times for the modules."""

    plan_max_retries: Annotated[int, Option(setting="c2rust.plan_max_retries")] = 3
