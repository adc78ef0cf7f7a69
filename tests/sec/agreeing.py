"""A model that, asked again with replaced names, agrees with the dismissals that it has given."""

import json

from jarvis_workers.models.platforms.protocol import ModelRequest, Platform, Reply
from tests.agents.loop.arrange import call, text
from tests.support.renamed_questions import dismissals, is_renamed


class Agreeing:
    """A platform that asks another one, but answers itself what is asked with replaced names."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.name, self.model, self.profile = platform.name, platform.model, platform.profile
        self.questions: list[str] = []

    async def ask_async(self, request: ModelRequest) -> Reply:
        asked = [message.content for message in request.messages if is_renamed(message.content)]
        if not asked:
            return await self._platform.ask_async(request)
        self.questions.append(asked[0])
        items = dismissals(asked[0])
        if request.tools:
            return call("submit_report", json.dumps({"report": items}))
        return text(f"<REPORT>\n{json.dumps(items)}\n</REPORT>")
