"""The session of a transaction, under the one name by which all other packages know it."""

from sqlmodel import Session

__all__ = ["Session"]
