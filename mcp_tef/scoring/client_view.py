"""Tools as a client shows them to a model (names, cut texts, tools left out), and its searches over them by words."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.clients import (
    ChangeKind,
    ClientChange,
    ClientProfile,
    ClientView,
    NameRule,
    SameName,
    SearchMethod,
    SearchRule,
    TextRule,
    TooLong,
)
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.scoring.tfidf_weights import spaced, stems
from mcp_tef.trust.patterns import replaced_outside

_DOTS = "..."
LONGEST_QUOTE = 80


@dataclass(frozen=True, slots=True)
class _Named:
    """A tool with the name that a client gives it; "" where it leaves the tool out."""

    tool: Tool
    name: str


def presented(profile: ClientProfile, offered: Sequence[OfferedTool], model: str = "") -> ClientView:
    """Return offered tools as a client shows them to a model of this name, and all that it does to them."""
    title = profile.title
    if profile.most_tools is not None and len(offered) > profile.most_tools:
        why = f"{title} refuses more than {profile.most_tools:,} tools, and {len(offered):,} are offered."
        return ClientView(profile, (), tuple(ClientChange(ChangeKind.LEFT_OUT, one.tool, why) for one in offered))
    changes: list[ClientChange] = []
    named = _names(profile, offered, changes)
    shown = tuple(OfferedTool(one.name, _texts(profile, one.tool, model, changes)) for one in named)
    return ClientView(profile, shown, tuple(changes))


def shown_instructions(profile: ClientProfile, given: Mapping[str, str]) -> str:
    """Return what a client tells the model of the instructions of servers, by name; "" where it uses none."""
    if not profile.uses_instructions:
        return ""
    limit, mark = profile.texts.instructions, profile.texts.mark
    told = {
        name: text if limit is None or len(text) <= limit else f"{text[:limit]}{mark}" for name, text in given.items()
    }
    return "\n\n".join(f"Instructions of the server {name}:\n{text}" for name, text in told.items() if text)


def instruction_note(profile: ClientProfile, server: str, text: str) -> str:
    """Return what a client does not show of a server's instructions, in one sentence; "" where nothing is lost."""
    limit = profile.texts.instructions
    if not profile.uses_instructions or limit is None or len(text) <= limit:
        return ""
    lost = " ".join(text[limit:].split())
    shown = lost if len(lost) <= LONGEST_QUOTE else f"{lost[: LONGEST_QUOTE - 1]}…"
    return f"{profile.title} cuts the instructions of {server} at {limit:,} characters. Not seen: “{shown}”"


def _names(profile: ClientProfile, offered: Sequence[OfferedTool], changes: list[ClientChange]) -> list[_Named]:
    rule = profile.names
    if rule == NameRule():
        return [_Named(one.tool, one.offered_name) for one in offered]
    named: list[_Named] = []
    for one in offered:
        name = _name(rule, one.tool)
        if name:
            named.append(_Named(one.tool, name))
        else:
            why = f"{profile.title} leaves out tools whose {_counted(rule)} over {rule.longest} characters long."
            changes.append(ClientChange(ChangeKind.LEFT_OUT, one.tool, why))
    kept = _distinct(profile, named, changes)
    for item in kept:
        if item.name != _whole(rule, item.tool):
            why = f"{profile.title} calls it {item.name}."
            changes.append(ClientChange(ChangeKind.RENAMED, item.tool, why))
    return kept


def _counted(rule: NameRule) -> str:
    return "names and that of their server together are" if "{server}" in rule.counts else "name is"


def _whole(rule: NameRule, tool: Tool) -> str:
    """Return the name of a tool by the pattern alone."""
    before, _, after = rule.pattern.partition("{tool}")
    return f"{before.replace('{server}', tool.server)}{tool.name}{after}"


def _name(rule: NameRule, tool: Tool) -> str:
    """Return the name of a tool under a rule; "" where the tool is left out."""
    written = f"{_prefix(rule, tool.server)}{tool.name}"
    name = replaced_outside(rule.allowed, written, "_") if rule.allowed else written
    if rule.hash_changed and name != written:
        return _hashed(rule, name, written)
    length = len(tool.server) + len(tool.name) if rule.counts else len(name)
    return name if rule.longest is None or length <= rule.longest else _shorter(rule, rule.longest, name)


def _prefix(rule: NameRule, server: str) -> str:
    prefix = rule.pattern.partition("{tool}")[0].replace("{server}", server)
    prefix = prefix.lower() if rule.lower_server else prefix
    cut = rule.longest_prefix is not None and len(prefix) > rule.longest_prefix
    return f"{prefix[: rule.longest_prefix - 1]}_" if cut and rule.longest_prefix else prefix


def _shorter(rule: NameRule, longest: int, name: str) -> str:
    match rule.too_long:
        case TooLong.CUT:
            return name[:longest]
        case TooLong.CUT_IN_MIDDLE:
            half = (longest - len(_DOTS)) // 2
            return f"{name[:half]}{_DOTS}{name[-half:]}"
        case TooLong.HASHED:
            return _hashed(rule, name, name)
        case TooLong.LEFT_OUT:
            return ""


def _hashed(rule: NameRule, name: str, told: str) -> str:
    digits = hashlib.sha1(told.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[: rule.hash_length]
    kept = None if rule.longest is None else rule.longest - rule.hash_length - 1
    return f"{name[:kept]}_{digits}"


def _distinct(profile: ClientProfile, named: Sequence[_Named], changes: list[ClientChange]) -> list[_Named]:
    """Return tools with names of their own; of those that share one, the rule of the client decides."""
    sharing: dict[str, list[_Named]] = defaultdict(list)
    for one in named:
        sharing[one.name].append(one)
    kept: list[_Named] = []
    for name, group in sharing.items():
        kept += group if len(group) == 1 else _of_one_name(profile, name, group, changes)
    place = {id(one.tool): number for number, one in enumerate(named)}
    return sorted(kept, key=lambda one: place[id(one.tool)])


def _of_one_name(
    profile: ClientProfile, name: str, group: Sequence[_Named], changes: list[ClientChange]
) -> Iterable[_Named]:
    rule = profile.names
    if rule.same_name is SameName.HASHED:
        return [replace(one, name=_hashed(rule, name, f"{one.tool.server} {one.tool.name}")) for one in group]
    if rule.same_name is SameName.SERVER and _have_own_servers(group):
        return [replace(one, name=f"{one.tool.server}_{name}"[: rule.longest]) for one in group]
    *others, stays = group if rule.same_name is SameName.LAST else reversed(group)
    why = f"{profile.title} shows only one of the tools that it calls {name}: that of {stays.tool.server}."
    changes += [ClientChange(ChangeKind.LEFT_OUT, one.tool, why) for one in others]
    return [stays]


def _have_own_servers(group: Sequence[_Named]) -> bool:
    return len({one.tool.server for one in group}) == len(group)


def _texts(profile: ClientProfile, tool: Tool, model: str, changes: list[ClientChange]) -> Tool:
    rule, told = profile.texts, tool
    if rule.description is not None and len(tool.description) > rule.description:
        lost = tool.description[rule.description :]
        why = f"{profile.title} cuts its description at {rule.description:,} characters; {len(lost):,} are not seen."
        changes.append(ClientChange(ChangeKind.DESCRIPTION_CUT, tool, why, lost))
        told = replace(told, description=f"{tool.description[: rule.description]}{rule.mark}")
    schema = _schema(rule, tool.input_schema, model)
    if schema == tool.input_schema:
        return told
    why = f"{profile.title} shortens or drops descriptions of its parameters."
    changes.append(ClientChange(ChangeKind.PARAMETERS_CUT, tool, why))
    return replace(told, input_schema=schema)


def _schema(rule: TextRule, schema: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    if rule.largest_schema is not None and len(json.dumps(schema).encode()) > rule.largest_schema:
        schema = _with_descriptions(schema, 0)
    if rule.parameters is not None and model.rpartition("/")[2].startswith(rule.parameters_for):
        schema = _with_descriptions(schema, rule.parameters)
    return schema


def _with_descriptions(value: Any, longest: int) -> Any:
    """Return a schema with descriptions of at most so many characters; with none of them for 0."""
    if isinstance(value, Mapping):
        return {
            name: item[:longest] if _is_description(name, item) else _with_descriptions(item, longest)
            for name, item in value.items()
            if longest or not _is_description(name, item)
        }
    return [_with_descriptions(item, longest) for item in value] if isinstance(value, list) else value


def _is_description(name: str, item: object) -> bool:
    return name == "description" and isinstance(item, str)


SATURATION, LENGTH_WEIGHT = 1.2, 0.75
"""Usual values of k1 and b (Robertson and Zaragoza 2009, The Probabilistic Relevance Framework, section 3.2)."""


def _parameters(tool: Tool) -> Mapping[str, object]:
    properties = tool.input_schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


_READ: Mapping[str, Callable[[Tool], str]] = {
    "name": lambda tool: spaced(tool.name),
    "server": lambda tool: spaced(tool.server),
    "title": lambda tool: str(tool.raw.get("title") or ""),
    "description": lambda tool: tool.description,
    "parameters": lambda tool: " ".join(map(spaced, _parameters(tool))),
}
READABLE = frozenset(_READ)
"""Texts of a tool that a search can read."""


def searched_text(tool: Tool, reads: Sequence[str]) -> str:
    """Return the texts of a tool that a search reads, as one."""
    return ". ".join(filter(None, (_READ[name](tool) for name in reads)))


class WordSearch:
    """Search over tools by words: by BM25, or by how many words of the request a tool has."""

    def __init__(self, rule: SearchRule, tools: Sequence[OfferedTool]) -> None:
        self._rule = rule
        self._texts = [Counter(stems(searched_text(one.tool, rule.reads))) for one in tools]
        self._holding = Counter(word for text in self._texts for word in text)
        lengths = np.array([sum(text.values()) for text in self._texts], dtype=float)
        self._relative = lengths / max(1.0, float(lengths.mean())) if len(lengths) else lengths

    def scores(self, query: str) -> NDArray[np.float64]:
        """Return the score of each tool for a request; 0 for a tool that the search does not find."""
        total = np.zeros(len(self._texts))
        for word in dict.fromkeys(stems(query)):
            times = np.array([text[word] for text in self._texts], dtype=float)
            total += self._weighted(word, times)
        return total

    def _weighted(self, word: str, times: NDArray[np.float64]) -> NDArray[np.float64]:
        tools, holding = len(self._texts), self._holding[word]
        rarity = np.log(1 + (tools - holding + 0.5) / (holding + 0.5))
        if self._rule.method is SearchMethod.KEYWORDS:
            return np.asarray(
                (times > 0) * (1 + rarity / (1 + np.log(1 + 2 * tools)) / 1000)
            )  # rarity only decides ties
        length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * self._relative
        return np.asarray(rarity * times * (SATURATION + 1) / (times + SATURATION * length))


def best(scores: NDArray[np.float64], results: int) -> tuple[int, ...]:
    """Return the places of the best scores above 0, best first; equal scores keep their order."""
    order = np.argsort(-scores, kind="stable")[:results]
    return tuple(int(place) for place in order if scores[place] > 0)
