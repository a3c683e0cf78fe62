"""Tools, cases, configs and recorded calls that the golden commands are run on."""

from typing import Any

TOOLS: list[dict[str, Any]] = [
    {
        "name": "read_file",
        "description": "Read the text of a file in the workspace.",
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
    {
        "name": "open_file",
        "description": "Read the whole text of a file in the workspace.",
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
    {"name": "pay", "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}},
]
CASES: dict[str, Any] = {
    "version": 1,
    "cases": [
        {
            "name": "reads",
            "query": "read the text of a file",
            "servers": ["files"],
            "expected": [{"tool": "read_file"}],
        },
        {"name": "No tool", "query": "sing a song", "servers": ["files"], "expected": None, "suites": ["Second"]},
    ],
}
CONFIG: dict[str, Any] = {
    "mcpServers": {
        "clock": {"command": "uvx", "args": ["mcp-server-time"], "env": {"API_KEY": "hush-4711-hush"}},
        "desk": {"url": "https://desk.test/mcp"},
        "broken": {"args": ["without a command"]},
    }
}
PAY = [{"tool": "pay", "parameters": {"x": "1"}}]
CALLS: list[dict[str, Any]] = [
    {"id": "right", "expected": PAY, "calls": [{"tool": "pay", "arguments": {"x": "1"}}]},
    {"id": "wrong value", "expected": PAY, "calls": [{"tool": "pay", "arguments": {"x": "2"}}]},
    {"id": "wrong tool", "expected": PAY, "calls": [{"tool": "open_file", "arguments": {}}]},
    {"id": "invented", "expected": PAY, "calls": [{"tool": "steal", "arguments": {}}]},
    {"id": "unexpected", "expected": None, "calls": [{"tool": "pay", "arguments": {}}], "confidence": 0.9},
    {"id": "unreadable", "expected": PAY, "calls": None},
    {"id": "no tool", "expected": None, "calls": []},
]

LIBRARY_LINES = (
    *("list", "add rent.json --config answer.json --category shop --json", "edit rent --tag bikes --json"),
    *("show rent --versions", "show rent --compare 1 2 --json", """run rent '{"path": "R-7"}' --json"""),
    *("run rent '{\"path\": 7}'", "deactivate rent", "activate rent --json", "deactivate rent --json", "activate rent"),
    *("deprecate rent --json", "import --server files", "import --server files --json", "list --json"),
    *("history rent --json", "export rent --json", "delete rent", "delete rent --yes --json"),
)
