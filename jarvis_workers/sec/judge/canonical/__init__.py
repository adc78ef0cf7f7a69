"""The view without words: code in which a project's own names and texts are replaced, so that none can persuade."""

from jarvis_workers.sec.judge.canonical.canonical_question import CanonicalQuestion, canonical_question

__all__ = ["CanonicalQuestion", "canonical_question"]
