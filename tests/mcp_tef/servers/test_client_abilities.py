"""Abilities that we offer servers as a client, and what of theirs is never fetched or opened."""

import json
import sys
from pathlib import Path

from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.servers.tool_caller import McpToolCaller
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.search_services import SearchService

SCRIPT = """
import json, sys
heard, lure = sys.argv[1:]
icons = [{"src": lure + "/icon.png", "mimeType": "image/png"}]
words = f"![x]({lure}/a.png) {lure}/link"
tool = {"name": "t", "description": words, "inputSchema": {"type": "object"}, "icons": icons}
content = [
    {"type": "text", "text": f"{lure}/text"},
    {"type": "resource_link", "name": "r", "uri": lure + "/resource", "icons": icons},
]
answers = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "s", "version": "1", "icons": icons, "websiteUrl": lure + "/site"},
        "instructions": f"See {lure}/more",
    },
    "tools/list": {"tools": [tool]},
    "tools/call": {"content": content},
}
for line in sys.stdin:
    open(heard, "a").write(line)
    message = json.loads(line)
    if message.get("method") in answers:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answers[message["method"]]}), flush=True)
    elif "id" in message and "method" in message:
        error = {"code": -32601, "message": "Method not found"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
"""


async def test_servers_are_offered_nothing_and_nothing_that_they_link_to_is_fetched(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    with SearchService({}) as lure:
        args = ("-I", "-c", SCRIPT, str(heard), lure.url)
        spec = ServerSpec(name="Bench", transport=Transport.STDIO, command=sys.executable, args=args)
        lister, caller = McpToolLister({}), McpToolCaller({})
        listing = await lister.list_tools(spec, timeout=20)
        reply = await caller.call_tool(spec, "t", {}, timeout=20)
        await lister.close()
        await caller.close()
    assert [tool.name for tool in listing.tools] == ["t"]
    assert len(reply.content) == 2
    assert lure.asked == []
    messages = [json.loads(line) for line in heard.read_text().splitlines()]
    offered = [one["params"]["capabilities"] for one in messages if one["method"] == "initialize"]
    assert offered
    assert all(not one for one in offered)
