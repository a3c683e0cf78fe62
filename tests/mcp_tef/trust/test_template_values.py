"""Values of calls are never code: where a command line of a library tool may hold one."""

from collections.abc import Sequence

import pytest

from mcp_tef.trust.template_values import misplaced_value

CODE = (
    ("sh", "-c", "echo {x}"), ("sh", "-c", "{x}"), ("sh", "-c", "--", "{x}"), ("sh", "-x", "-c", "{x}"),
    ("bash", "-lc", "{x}"), ("/bin/bash", "{x}"), ("cmd", "/c", "{x}"), ("powershell", "-Command", "{x}"),
    ("pwsh.exe", "-EncodedCommand", "{x}"), ("python3.12", "-c", "{x}"), ("python3", "-Ic", "{x}"), ("python3", "{x}"),
    ("python3", "--", "{x}"), ("node", "-e", "{x}"), ("node", "--eval", "{x}"), ("node", "--eval={x}"),
    ("deno", "eval", "{x}"), ("perl", "-ne", "{x}"), ("perl", "-e", "1", "-e", "{x}"), ("ruby", "-e", "{x}"),
    ("php", "-r", "{x}"), ("awk", "{x}", "file"), ("sed", "-e", "{x}"), ("lua", "-e", "{x}"),
    ("env", "sh", "-c", "{x}"), ("env", "A=1", "{x}"), ("sudo", "-u", "bob", "{x}"), ("timeout", "5", "{x}"),
    ("docker", "exec", "box", "sh", "-c", "{x}"), ("docker", "run", "{x}"), ("npx", "-y", "{x}"), ("uvx", "{x}"),
    ("uv", "run", "{x}"), ("ssh", "host", "{x}"), ("xargs", "{x}"), ("find", ".", "-exec", "{x}"),
    ("sqlite3", "a.db", "{x}"), ("eval", "{x}"), ("tool", "--name={x}"), ("busybox", "sh", "-c", "{x}"),
)  # fmt: skip
DATA = (
    ("grep", "-e", "word", "--", "{x}"), ("printf", "%s", "{x}"), ("./run.sh", "{x}", "{y}"),
    ("git", "log", "--", "{x}"),
    ("sh", "-c", 'echo "$1"', "sh", "{x}"), ("python3", "tool.py", "{x}"), ("python3", "-m", "json.tool", "{x}"),
    ("node", "tool.js", "--", "{x}"), ("npx", "-y", "package@1.0.0", "{x}"), ("uv", "run", "tool.py", "{x}"),
    ("env", "A=1", "grep", "{x}"), ("sudo", "-u", "bob", "cat", "{x}"),
)  # fmt: skip


@pytest.mark.parametrize("argv", CODE, ids=" ".join)
def test_no_value_stands_where_a_program_would_run_it(argv: Sequence[str]) -> None:
    assert misplaced_value(argv)


@pytest.mark.parametrize("argv", DATA, ids=" ".join)
def test_a_value_that_is_only_data_is_allowed(argv: Sequence[str]) -> None:
    assert misplaced_value(argv) == ""
