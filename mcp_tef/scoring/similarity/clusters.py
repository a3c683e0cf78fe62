"""Clusters of similar tools, an order that puts them side by side, and copies on different servers."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from mcp_tef.model.similarity import ClusterMerge, Clusters, MatrixKind, ToolGroup, ToolPair
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.linkage import Joins, average_linkage, best_ordered, branches, leaves
from mcp_tef.scoring.similarity.tool_texts import content_stem, description_text, stems_of
from mcp_tef.scoring.tokenize import read

BEST_ORDER_UP_TO = 500
GROUPED_FROM = 0.6
NEAR = 0.95
MOST_NEAR = 1_000
NAME_WORDS = 3
NAME_COUNTS = 3
BEGINNING = 160
COMMON = 0.6


def clusters(similarity: Similarity) -> Clusters:
    """Return average linkage over 1 − similarity; a group is a branch that joins at a similarity of `group_level`.

    Up to 500 tools the order is the one that keeps neighbours most alike, above that the order of joining.
    """
    if len(similarity) < 2:
        return Clusters(order=tuple(range(len(similarity))), merges=(), groups=(), near_duplicates=())
    tree = _tree(similarity)
    order = leaves(tree)
    return Clusters(
        order=order,
        merges=tuple(
            ClusterMerge(int(left), int(right), height, int(size)) for left, right, height, size in tree.tolist()
        ),
        groups=_groups(similarity, tree, order),
        near_duplicates=near_duplicates(similarity),
    )


def group_level(similarity: Similarity) -> float:
    """From which similarity on tools are grouped: a fixed part of the way from what unrelated tools have to 1."""
    return similarity.level + GROUPED_FROM * (1 - similarity.level)


def near_duplicates(similarity: Similarity) -> tuple[ToolPair, ...]:
    """Pairs on different servers whose similarity in either form is 0.95 or more; most alike first, at most 1,000."""
    kinds = (MatrixKind.SIMILARITY, MatrixKind.FULL) if similarity.has_full else (MatrixKind.SIMILARITY,)
    near = {(pair.a, pair.b): pair for kind in kinds for pair in similarity.above(kind, NEAR, MOST_NEAR)}
    apart = [pair for pair in near.values() if _server(similarity, pair.a) != _server(similarity, pair.b)]
    return tuple(sorted(apart, key=lambda pair: (-max(pair.similarity, pair.full or 0), pair.a, pair.b))[:MOST_NEAR])


def _server(similarity: Similarity, place: int) -> str:
    return similarity.tools[place].tool.server


def _tree(similarity: Similarity) -> Joins:
    square = similarity.matrix(MatrixKind.SIMILARITY)
    tree = average_linkage(square)
    return best_ordered(tree, square) if len(similarity) <= BEST_ORDER_UP_TO else tree


def _groups(similarity: Similarity, tree: Joins, order: Sequence[int]) -> tuple[ToolGroup, ...]:
    """Return the branches below the cut with two tools or more, in the order of the leaves."""
    branch_of = branches(tree, 1 - group_level(similarity))
    members: dict[int, list[int]] = {}
    for place in order:
        members.setdefault(branch_of[place], []).append(place)
    several = [tuple(found) for found in members.values() if len(found) > 1]
    names = _Names([each.tool for each in similarity.tools])
    return tuple(ToolGroup(names.of(found), found) for found in several)


class _Names:
    """Names groups by words that most members have and few others: those of names first, then those of beginnings.

    Further on, descriptions of one server often hold the same paragraphs, which say nothing of a group.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = tools
        reading = read([description_text(tool)[:BEGINNING] for tool in tools])
        self._words = reading.by_text()
        self._stem_of = {word: content_stem(word) for word in reading.words}
        self._stems = [set(map(self._stem_of.__getitem__, bag)) for bag in self._words]
        self._seen = Counter(chain.from_iterable(self._stems))

    def of(self, members: Sequence[int]) -> str:
        """Return the three most telling words in their usual spelling and order; else the first member's name."""
        held = Counter(chain.from_iterable(self._stems[place] for place in members))
        in_names = Counter(chain.from_iterable(set(stems_of(self._tools[place].name)) for place in members))
        common = [stem for stem, count in held.items() if count >= COMMON * len(members) and len(stem) > 1]
        weight = {stem: (held[stem] + NAME_COUNTS * in_names[stem]) * self._rarity(stem, held[stem]) for stem in common}
        best = sorted(common, key=lambda stem: (-weight[stem], stem))[:NAME_WORDS]
        return " ".join(self._written(members, best)) or self._tools[members[0]].name

    def _rarity(self, stem: str, held: int) -> float:
        return held / self._seen[stem] + 0.1

    def _written(self, members: Sequence[int], stems: Sequence[str]) -> list[str]:
        """Return some stems as they are mostly spelled, in the order in which the members say them."""
        said = chain.from_iterable(self._words[place] for place in members)
        spelled = Counter(word for word in said if self._stem_of[word] in stems)
        mostly = {self._stem_of[word]: word for word, _ in reversed(spelled.most_common())}
        return [mostly[stem] for stem in dict.fromkeys(self._stem_of[word] for word in spelled)]
