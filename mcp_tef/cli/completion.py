"""`completion`: the script by which a shell completes verbs, options and file names."""

from argparse import Action, Namespace
from collections.abc import Iterator
from typing import Any

from mcp_tef.cli.arguments import Parser, Verbs, add_verb, verbs_below
from mcp_tef.cli.output_files import NAMED, analysis_file, writable
from mcp_tef.cli.terminal import Terminal

SHELLS = ("bash", "zsh", "fish")
INSTALL = """bash and fish read it from these folders; for zsh, have fpath contain the folder before compinit:

  mcp-tef completion bash > ~/.local/share/bash-completion/completions/mcp-tef
  mcp-tef completion zsh > ~/.zfunc/_mcp-tef
  mcp-tef completion fish > ~/.config/fish/completions/mcp-tef.fish"""


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(verbs, "completion", "print the script that completes commands in a shell", completion)
    parser.epilog = f"{parser.epilog}\n\n{INSTALL}"
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def completion(arguments: Namespace, terminal: Terminal) -> int:
    """Print the script."""
    from mcp_tef.cli.main import parser

    script = completion_script(parser(), arguments.shell)
    terminal.document({"shell": arguments.shell, "script": script})
    terminal.write(script)
    return 0


def completion_script(whole: Parser, shell: str) -> str:
    """Return the script for a shell that completes what this parser takes."""
    import shtab

    for action in _actions(whole):
        if kind := _places(action):
            vars(action)["complete"] = getattr(shtab, kind)
    script: str = shtab.complete(whole, shell)
    return script


def _actions(whole: Parser) -> Iterator[Action]:
    for _, verb in verbs_below(whole):
        yield from verb._actions  # noqa: SLF001 (argparse gives it no public name)


def _places(action: Action) -> str | None:
    """Return what kind of path an argument takes, None for anything else."""
    if action.metavar == "DIR":
        return "DIRECTORY"
    kind: Any = action.type
    named = action.dest in NAMED and action.dest != "system_prompt"
    return "FILE" if named or kind in (writable, analysis_file) else None
