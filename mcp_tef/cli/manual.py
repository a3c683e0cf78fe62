"""`manual` and `completion`: the manual page, and the script by which a shell completes verbs, options and files."""

from argparse import Action, Namespace
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mcp_tef import VERSION
from mcp_tef.cli.arguments import Parser, Verbs, add_verb, shared_options, verbs_below
from mcp_tef.cli.output_files import NAMED, analysis_file, writable
from mcp_tef.cli.terminal import Terminal

NAME = "mcp-tef \\- evaluate whether language models select the right MCP tools"


def register_manual(verbs: Verbs) -> None:
    """Add the verb, which `mcp-tef help --man` stands for."""
    add_verb(verbs, "manual", "print the manual page in the format of man", manual, listed=False)


def manual(_: Namespace, terminal: Terminal) -> None:
    """Print the page."""
    from mcp_tef.cli.main import parser

    page = "".join(f"{line}\n" for line in manual_lines(parser()))
    terminal.document({"page": page})
    terminal.write(page)


def manual_lines(whole: Parser) -> Iterator[str]:
    """Yield the lines of the page: all options that verbs share once, then each verb with its own."""
    shared = [action for action in shared_options()._actions if action.option_strings]  # noqa: SLF001
    common = {option for action in shared for option in action.option_strings} | {"-h", "--help"}
    yield f'.TH MCP\\-TEF 1 "" "mcp\\-tef {_escaped(VERSION)}"'
    yield from (".SH NAME", NAME, ".SH SYNOPSIS", ".B mcp\\-tef", "VERB [ARGUMENTS] [OPTIONS]", ".SH DESCRIPTION")
    yield from _paragraphs(whole.description or "")
    yield from (".SH OPTIONS OF EVERY VERB", *_entries(shared), ".SH VERBS")
    for name, verb in verbs_below(whole):
        if name and verb.is_listed:
            yield f".SS mcp\\-tef {_escaped(name)}"
            yield from _verb(verb, common)


def _verb(verb: Parser, common: set[str]) -> Iterator[str]:
    own = [action for action in verb._actions if not common & {*action.option_strings}]  # noqa: SLF001
    yield from _paragraphs(verb.description or "")
    yield from _entries(action for action in own if not isinstance(action.choices, Mapping))
    yield from _paragraphs(verb.epilog or "")


def _entries(actions: Iterable[Action]) -> Iterator[str]:
    for action in actions:
        names = ", ".join(f"\\fB{_escaped(option)}\\fR" for option in action.option_strings)
        yield ".TP"
        yield " ".join(filter(None, (names, *(f"\\fI{_escaped(one)}\\fR" for one in _values(action)))))
        yield _text((action.help or "").replace("%%", "%")) or "\\&"


def _values(action: Action) -> Iterator[str]:
    """Yield how the help page names the values of an option, or an argument."""
    if action.nargs == 0:
        return
    if action.metavar:
        yield from (action.metavar,) if isinstance(action.metavar, str) else action.metavar
    elif action.choices:
        yield "|".join(map(str, action.choices))
    else:
        yield action.dest.upper()


def _paragraphs(text: str) -> Iterator[str]:
    """Yield paragraphs; one with an indented line, such as an example, stays as it is."""
    for paragraph in text.split("\n\n"):
        if "\n " in paragraph or paragraph.startswith(" "):
            yield from (".PP", ".nf", *map(_text, paragraph.splitlines()), ".fi")
        else:
            yield from (".PP", _text(" ".join(paragraph.split())))


def _text(line: str) -> str:
    """Return a line of text; a control character of the format at its start is guarded."""
    escaped = _escaped(line)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _escaped(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-")


SHELLS = ("bash", "zsh", "fish")
INSTALL = """bash and fish read it from these folders; for zsh, have fpath contain the folder before compinit:

  mcp-tef completion bash > ~/.local/share/bash-completion/completions/mcp-tef
  mcp-tef completion zsh > ~/.zfunc/_mcp-tef
  mcp-tef completion fish > ~/.config/fish/completions/mcp-tef.fish"""


def register_completion(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(
        verbs, "completion", "print the script that completes commands in a shell", completion, more=INSTALL
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def completion(arguments: Namespace, terminal: Terminal) -> None:
    """Print the script."""
    from mcp_tef.cli.main import parser

    script = completion_script(parser(), arguments.shell)
    terminal.document({"shell": arguments.shell, "script": script})
    terminal.write(script)


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
