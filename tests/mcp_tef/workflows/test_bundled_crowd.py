"""The bundled crowd: sound definitions of many servers, names that collide, and queries that no tool serves."""

import hashlib
from collections import Counter
from importlib.resources import files

from mcp_tef.embedding.tfidf import TfidfIndex
from mcp_tef.llm.retrieval_baseline import wording
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.servers.definitions import check_definitions
from mcp_tef.workflows.crowd_setup import read_bundled_crowd

KNOWN_VERSIONS = {1: "a4b3df3cd6e0c2b457c399e73b8dfa3eeec0f2590165dedb9c73cef94dca2917"}
"""The SHA-256 of each version; a changed file needs a new version, since stored tests name theirs."""


def test_every_definition_is_sound_and_about_300_stand_in_30_servers() -> None:
    crowd = read_bundled_crowd()
    for name, definitions in crowd.servers.items():
        checked = check_definitions(ServerSpec(name=name, transport=Transport.FILE, path="crowd"), definitions)
        assert len(checked.tools) == len(definitions), checked.problems
    assert len(crowd.servers) == 30
    assert 280 <= sum(map(len, crowd.servers.values())) <= 330


def test_names_collide_as_they_do_in_life() -> None:
    names = Counter(raw["name"] for ones in read_bundled_crowd().servers.values() for raw in ones)
    shared = {name for name, count in names.items() if count > 1}
    assert {"search", "create_issue", "get_issue", "search_issues", "move_file"} <= shared


def test_no_tool_is_near_a_query_that_none_can_serve() -> None:
    crowd = read_bundled_crowd()
    spec = ServerSpec(name="crowd", transport=Transport.FILE, path="crowd")
    tools = [tool for ones in crowd.servers.values() for tool in check_definitions(spec, ones).tools]
    scores = TfidfIndex([wording(tool) for tool in tools]).scores_of(crowd.silence)
    assert len(set(crowd.silence)) >= 40
    assert {query: float(one) for query, one in zip(crowd.silence, scores.max(axis=1), strict=True) if one > 0.45} == {}


def test_a_changed_crowd_has_a_new_version() -> None:
    text = files("resources").joinpath("crowd.json").read_bytes()
    assert KNOWN_VERSIONS[read_bundled_crowd().version] == hashlib.sha256(text).hexdigest()
