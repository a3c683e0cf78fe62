"""Candidates of a search for a better text: made by rules and by a writer, and refused before any is asked."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_tef.errors import InputError, ModelError
from mcp_tef.model.ids import CaseId
from mcp_tef.model.improvements import TextCandidate, WorkingFailure
from mcp_tef.model.runs import NOT_OFFERED_CODE, ModelSettings, RunSummary
from mcp_tef.model.similarity import ComparedTool
from mcp_tef.model.tools import Tool
from mcp_tef.model.trials import TrialResult
from mcp_tef.ports import TokenCounter
from mcp_tef.prompts.templates import rewrite_text
from mcp_tef.prompts.writing_prompts import (
    IMPROVE_PROMPT,
    RewriteError,
    improve_request,
    read_improvements,
    read_rewrite,
)
from mcp_tef.scoring.differentiation.candidate_texts import CandidateTool, rule_candidates, why_refused
from mcp_tef.scoring.differentiation.descriptions import why_unusable
from mcp_tef.scoring.differentiation.patches import RecommendationWriter
from mcp_tef.scoring.differentiation.tool_pair import PairedTool
from mcp_tef.scoring.lint.definition_size import definition_text
from mcp_tef.scoring.lint.lint_context import ListedNames
from mcp_tef.workflows.model_writing import CappedWriter

MOST_CANDIDATES = 8
MOST_SHOWN_FAILURES = 30
MOST_SHOWN_TOOLS = 12


@dataclass(frozen=True, slots=True)
class WrittenCandidates:
    """Candidates of one request to a writer, and its cost in US dollars; None if unknown."""

    candidates: tuple[TextCandidate, ...] = ()
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class _WriterTask:
    """Request to a writer about some tools, and the reader of its answer."""

    tools: Sequence[Tool]
    request: str
    read: Callable[[str], list[TextCandidate]]


def _rewritten(text: str, tool: Tool) -> TextCandidate:
    """Return the candidate in the answer to a request for one description. RewriteError."""
    found = read_rewrite(text)
    return TextCandidate(texts={tool.name: found.description}, reason=found.rationale)


def hinted_cases(result: TrialResult, runs: Sequence[RunSummary]) -> dict[CaseId, bool]:
    """Return each failing case with True if it passes with a hint; one that was not asked does not."""
    found = {one.case_id: one.draft > 0 for one in result.outcomes if one.pairs and not one.original}
    return found | {run.case_id: False for run in runs if run.failure_code == NOT_OFFERED_CODE}


class CandidateSource:
    """Makes the candidates of each round.

    `requests` holds the queries of the working cases by expected tool: no other query is shown to rules or writer.
    `queries` are those of all cases, which no candidate may repeat.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        failures: Sequence[WorkingFailure],
        requests: Mapping[str, Sequence[str]],
        queries: Sequence[str],
        counter: TokenCounter,
    ) -> None:
        compared = [ComparedTool(tool.name, tool) for tool in tools]
        rule_writer = RecommendationWriter(compared)
        self.tools: Mapping[str, PairedTool] = {one.id: rule_writer.paired(one) for one in compared}
        self._failures = failures
        self._names = ListedNames(tools)
        self._queries = queries
        self._counter = counter
        self._rules: Iterator[TextCandidate] = rule_candidates(failures, self.tools, requests)
        self._seen: set[frozenset[tuple[str, str]]] = set()
        self._rewritten: list[str] = []

    def from_rules(self, wanted: int) -> list[TextCandidate]:
        """Return the next candidates of the rules until so many may be asked, the refused ones among them."""
        found: list[TextCandidate] = []
        for made in self._rules:
            if wanted <= 0:
                return found
            candidate = self._checked(made)
            found.append(candidate)
            wanted -= not candidate.refused
        return found

    async def from_writer(self, writer: CappedWriter) -> WrittenCandidates:
        """Ask the writer once; what it fails at is a candidate without a text, refused with the reason.

        A writer with a prompt of its own is asked for one tool after the other, each apart from those called instead.
        """
        label = writer.model.asked
        task = self._task_for(writer.model)
        if not task.tools:
            return WrittenCandidates()
        try:
            written = await writer.write(IMPROVE_PROMPT.system, task.request)
        except (InputError, ModelError) as error:
            return WrittenCandidates((TextCandidate(texts={}, author=label, refused=error.message),))
        try:
            found = task.read(written.text)[:MOST_CANDIDATES]
        except RewriteError as error:
            failed = TextCandidate(texts={}, author=label, refused=f"{label} {error}.")
            return WrittenCandidates((failed,), written.cost_usd)
        checked = tuple(self._checked(replace(one, author=label), [tool.name for tool in task.tools]) for one in found)
        return WrittenCandidates(checked, written.cost_usd)

    def _task_for(self, model: ModelSettings) -> "_WriterTask":
        shown = self._failures[:MOST_SHOWN_FAILURES]
        if not model.prompt:
            tools = self._failing(shown)
            return _WriterTask(tools, improve_request(tools, shown), lambda text: read_improvements(text, self.tools))
        tools = self._next_to_rewrite(shown)
        request = rewrite_text(model, tools[0], tools[1:]) if tools else ""
        return _WriterTask(tools, request, lambda text: [_rewritten(text, tools[0])])

    def _failing(self, shown: Sequence[WorkingFailure]) -> list[Tool]:
        named = dict.fromkeys(name for one in shown for name in (one.expected, one.selected) if name in self.tools)
        return [self.tools[name].tool for name in list(named)[:MOST_SHOWN_TOOLS] if name]

    def _next_to_rewrite(self, shown: Sequence[WorkingFailure]) -> list[Tool]:
        """Return the expected tool that fails most often and was not rewritten yet, then those called instead."""
        expected = Counter(one.expected for one in shown if one.expected in self.tools)
        name = next((name for name, _ in expected.most_common() if name not in self._rewritten), "")
        if not name:
            return []
        self._rewritten.append(name)
        called = dict.fromkeys(one.selected or "" for one in shown if one.expected == name and one.selected != name)
        return [self.tools[one].tool for one in (name, *called) if one in self.tools][:MOST_SHOWN_TOOLS]

    def _checked(self, candidate: TextCandidate, rivals: Sequence[str] = ()) -> TextCandidate:
        """Return a candidate with the texts that differ, refused where there is a reason; `rivals` for written ones."""
        given = candidate.texts.items()
        texts = {name: text for name, text in given if text != self.tools[name].tool.description}
        candidate, key = replace(candidate, texts=texts), frozenset(texts.items())
        if not texts:
            return replace(candidate, refused="It changes nothing.")
        if key in self._seen:
            return replace(candidate, refused="It is the same as an earlier candidate.")
        self._seen.add(key)
        reasons = (self._why_refused(name, text, rivals) for name, text in texts.items())
        return replace(candidate, refused=next(filter(None, reasons), ""))

    def _why_refused(self, name: str, text: str, rivals: Sequence[str]) -> str | None:
        side = self.tools[name]
        others = [self.tools[rival] for rival in rivals if rival != name]
        if rivals and (reason := why_unusable(text, side, others)):
            return f"It {reason}."
        after = replace(side.tool, description=text, raw={**side.tool.raw, "description": text})
        tokens = self._counter.count([definition_text(side.tool), definition_text(after)])
        before, now = CandidateTool(side.tool, tokens[0]), CandidateTool(after, tokens[1])
        return why_refused(before, now, self._queries, self._names)
