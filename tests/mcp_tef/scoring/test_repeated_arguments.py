"""Arguments that a call gives more than once: judged by the last value, and told."""

import pytest

from mcp_tef.model.answers import ActualCall
from mcp_tef.scoring.judge import judge
from tests.support.judging_factories import expect, tool, wanted

TOOLS = [tool("search_code")]


@pytest.mark.parametrize(
    ("repeated", "told"),
    [
        ((), "Picked `search_code` on docs, as expected."),
        (
            ("query",),
            "Picked `search_code` on docs, as expected."
            " The argument `query` was given more than once; the last value was judged.",
        ),
        (
            ("a", "b"),
            "Picked `search_code` on docs, as expected."
            " The arguments `a` and `b` were given more than once; the last value was judged.",
        ),
    ],
)
def test_an_argument_that_was_given_twice_is_told(repeated: tuple[str, ...], told: str) -> None:
    verdict = judge(
        expect(wanted("search_code")),
        TOOLS,
        [ActualCall(tool="search_code", arguments={"query": "x"}, repeated=repeated)],
    )
    assert verdict.explanation == told
