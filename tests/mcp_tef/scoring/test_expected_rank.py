"""The rank of expected tools in a ranking."""

from mcp_tef.model.answers import RankedTool
from mcp_tef.model.cases import NO_TOOL, Expectation
from mcp_tef.model.tools import OfferedTool
from mcp_tef.scoring.judge import rank_of_expected
from tests.support.scoring_factories import any_of, expect, tool, wanted

OFFERED = [
    OfferedTool("docs-read", tool("read", server="docs")),
    OfferedTool("wiki-read", tool("read", server="wiki")),
    OfferedTool("find", tool("find", server="docs")),
    OfferedTool("write", tool("write", server="docs")),
]
RANKING = [RankedTool(name, 1 - place / 10) for place, name in enumerate(("write", "wiki-read", "docs-read", "find"))]


def rank(expectation: Expectation) -> int | None:
    return rank_of_expected(expectation, RANKING, OFFERED)


def test_the_rank_counts_from_one() -> None:
    assert rank(expect(wanted("write"))) == 1
    assert rank(expect(wanted("find"))) == 4


def test_the_server_counts_where_the_expectation_names_it() -> None:
    assert rank(expect(wanted("read"))) == 2
    assert rank(expect(wanted("read", "docs"))) == 3


def test_of_several_expected_calls_the_deepest_counts_and_of_alternatives_the_best() -> None:
    assert rank(expect(wanted("write"), wanted("find"))) == 4
    assert rank(any_of([wanted("find")], [wanted("read"), wanted("write")])) == 2


def test_there_is_no_rank_without_a_tool_a_ranking_or_an_offer() -> None:
    assert rank(NO_TOOL) is None
    assert rank(expect(wanted("gone"))) is None
    assert rank(expect(wanted("write"), wanted("gone"))) is None
    assert rank_of_expected(expect(wanted("write")), [], OFFERED) is None
