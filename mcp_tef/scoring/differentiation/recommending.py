"""Puts a change into the form in which it is handed out: with its patch and its override, both checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp_tef.model.similarity import ComparedTool, DifferentiationIssue, IssueType, Recommendation
from mcp_tef.scoring.differentiation.changes import Document, Operation, override
from mcp_tef.scoring.differentiation.proposals import Proposal
from mcp_tef.scoring.differentiation.sides import Side, Sides, called
from mcp_tef.scoring.wording import ticked

DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a proposal: the description or name that helps, and the pair's similarity with it, if known."""

    description: str | None = None
    note: str = ""
    name: str | None = None
    similarity: float | None = None


class Desk:
    """Writes out recommendations for the tools of one analysis."""

    def __init__(self, tools: Sequence[ComparedTool]) -> None:
        self.names = frozenset(compared.tool.name for compared in tools)
        self._tools = {compared.id: compared for compared in tools}
        servers = {compared.tool.server for compared in tools}
        self._documents: Mapping[str, Document] = {
            server: Document([compared for compared in tools if compared.tool.server == server]) for server in servers
        }

    def drafted(self, proposal: Proposal, settled: Settled) -> Recommendation:
        """A recommendation that needs no model; without a patch where no text or name helps."""
        patch, laid_over = self._change(proposal.side, settled, proposal.parameter)
        return Recommendation(
            issue=proposal.issue,
            tool_id=proposal.side.id,
            tool_name=proposal.side.name,
            action=proposal.action,
            rationale=f"{proposal.rationale} {settled.note}".strip(),
            priority=proposal.priority,
            author=DRAFT,
            before=None if settled.description is None else proposal.side.tool.description,
            revised=settled.description,
            patch=patch,
            override=laid_over,
            similarity_after=settled.similarity,
        )

    def written(
        self, side: Side, pair: Sides, found: Sequence[DifferentiationIssue], author: str, settled: Settled
    ) -> Recommendation:
        """A recommendation with the description that a model wrote; `note` is the model's reason."""
        issue = next((each for each in found if each.type is IssueType.SCOPE_CLARITY), found[0])
        other = pair.b if side is pair.a else pair.a
        action = f"Replace the description of {called(side, other)} by the one that {author} wrote."
        rationale = settled.note or f"It tells {ticked(side.name)} from {called(other, side)}."
        if settled.similarity is not None and settled.similarity >= pair.similarity:
            rationale += " It does not make the two less alike."
        patch, laid_over = self._change(side, settled, None)
        return Recommendation(
            issue=issue.type,
            tool_id=side.id,
            tool_name=side.name,
            action=action,
            rationale=rationale,
            priority=issue.priority,
            author=author,
            before=side.tool.description,
            revised=settled.description,
            patch=patch,
            override=laid_over,
            similarity_after=settled.similarity,
        )

    def _change(
        self, side: Side, settled: Settled, parameter: tuple[str, str] | None
    ) -> tuple[tuple[Operation, ...], Mapping[str, object]]:
        """The patch and the override; ToolHive can lay over names and descriptions, not parameters."""
        compared, document = self._tools[side.id], self._documents[side.tool.server]
        if settled.description is not None:
            return document.describe(compared, settled.description), override(
                side.tool, description=settled.description
            )
        if settled.name is not None:
            return document.rename(compared, settled.name), override(side.tool, name=settled.name)
        return (document.rename_parameter(compared, *parameter) if parameter else ()), {}
