"""The identity and the role of the user who makes a request."""

from enum import IntEnum
from typing import NamedTuple


class Role(IntEnum):
    """The role of a user: a viewer may read, an editor may also triage findings and control runs."""

    VIEWER = 1
    EDITOR = 2


class Identity(NamedTuple):
    """A signed-in user or an API token.

    `is_ambient` means that a browser sends the credentials automatically, so that requests that change something need a
    CSRF token.
    """

    name: str
    role: Role
    is_ambient: bool = True

    @property
    def may_edit(self) -> bool:
        return self.role >= Role.EDITOR


def read_role(text: str) -> Role:
    """Return the role with this name. Raises ValueError."""
    try:
        return Role[text.strip().upper()]
    except KeyError as error:
        raise ValueError("should be viewer or editor") from error
