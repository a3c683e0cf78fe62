"""Installations without the optional libraries: the command line works, and what needs one says how to install it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.model_replies import pick
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import case_file, tools_file, weather

ROOT = Path(__file__).parents[2]
OPTIONAL = (
    *("PySide6", "shiboken6", "pyqtgraph", "qasync", "qtawesome"),
    *("fastembed", "onnxruntime", "loguru", "litellm", "openai", "tiktoken"),
)
WITHOUT = """
import contextlib, io, json, sys

class Without:
    def __init__(self, finder):
        self._finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else self._finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self._finder, name)

def outcome(command, *given):
    said = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = command(*given)
    return [code, said.buffer.getvalue().decode()]

hidden = set(json.loads(sys.argv[1]))
sys.path.insert(0, sys.argv[2])
sys.meta_path = [Without(finder) for finder in sys.meta_path]
from app.__main__ import main as window
from mcp_tef.cli.main import main
print(json.dumps([outcome(main, line) for line in json.loads(sys.argv[3])] + [outcome(window)]))
"""


def test_without_the_optional_libraries_the_core_works_and_says_how_to_install_them(tmp_path: Path) -> None:
    place = ["--workspace", str(tmp_path / "sample.db")]
    tools = ["--tools-file", str(tools_file(tmp_path))]
    run = ["run", *tools, "--cases", str(case_file(tmp_path, [weather(1)])), "--model"]
    similarity = ["similarity", *tools]
    keys = {"OPENAI_API_KEY": "sk-test", "ANTHROPIC_API_KEY": "sk-test"}
    with ModelStub(pick) as stub:
        lines = [
            ["demo", *place],
            [*run, "openai/stub", "--base-url", stub.url],
            similarity,
            [*run, "anthropic/claude-sonnet-4-5"],
            [*run, "openai/stub", "--base-url", stub.url, "--through", "litellm"],
            [*similarity, "--embedder", "litellm:openai/text-embedding-3-small"],
            [*similarity, "--embedder", "fastembed"],
            [*run, "offline/meaning"],
            ["gui", *place],
        ]
        command = [sys.executable, "-c", WITHOUT, json.dumps(OPTIONAL), str(ROOT), json.dumps(lines)]
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, **keys}, capture_output=True, text=True, check=True
        )
        answered = [request for request in stub.requests if request.path.endswith("/chat/completions")]
    codes, texts = zip(*json.loads(done.stdout), strict=True)
    assert codes[:3] == (0, 0, 0), texts[:3]
    assert answered
    extras = ("litellm", "litellm", "litellm", "embedding", "embedding", "desktop", "desktop")
    for code, text, extra in zip(codes[3:], texts[3:], extras, strict=True):
        assert (code, f'pip install "mcp-tef-desktop[{extra}]"' in text) == (3, True), text
