"""What an embedder made of the texts of tools."""

from dataclasses import dataclass

from mcp_tef.scoring.similarity.signals import Signal


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """The tools' texts, made comparable: name and description, and with parameters where that was asked for.

    `level` is the cosine that this embedder gives to tools that have nothing to do with one another. `notice` says
    where another embedder had to stand in.
    """

    embedder: str
    described: Signal
    full: Signal | None = None
    level: float = 0.0
    notice: str | None = None
