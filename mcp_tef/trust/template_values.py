"""Values in command lines are never code: where an argument of a library tool may be the value of a call."""

import re
from collections.abc import Sequence
from typing import Final

from mcp_tef.model.library import PLACEHOLDER
from mcp_tef.trust.command_lines import SHELLS, WRAPPERS, program_name, text_flags, unwrapped

_RUN_TEXT = """
    python pypy ipython node nodejs bun deno ts-node tsx perl raku ruby php lua luajit rscript r julia tclsh wish awk
    gawk mawk nawk sed groovy scala elixir erl ghci ocaml swift java dotnet busybox toybox make cmake ninja
"""
_START = """
    env sudo doas pkexec nice nohup time timeout setsid stdbuf exec command chroot unshare nsenter npx pnpx bunx uvx
    pipx uv npm pnpm yarn docker podman nerdctl poetry pdm hatch rye conda mamba cargo go strace ltrace systemd-run
    start-stop-daemon runuser dbus-run-session xvfb-run open xdg-open rundll32 start runas
"""
_TAKE_COMMANDS = """
    ssh su eval watch parallel xargs sqlite3 psql mysql mariadb gdb lldb vi vim nvim ex ed emacs expect script flock at
    batch osascript tmux screen find rsh mosh socat nc ncat iex invoke-expression sqlplus duckdb wmic
"""
_INTERPRETERS: Final = SHELLS | frozenset(_RUN_TEXT.split())
_STARTERS: Final = frozenset(_START.split())
_COMMAND_TAKERS: Final = frozenset(_TAKE_COMMANDS.split())
_SUBCOMMANDS: Final = frozenset({"run", "exec", "x", "dlx", "tool", "compose", "container"})


def misplaced_value(argv: Sequence[str]) -> str:
    """Return why a placeholder stands where its value could be run as code; empty where every one is safe."""
    for place, word in enumerate(argv):
        if PLACEHOLDER.search(word) and not PLACEHOLDER.fullmatch(word):
            return f"puts a value inside the argument “{word[:80]}”"
        before = [one for one in argv[:place] if one != "--"]
        if PLACEHOLDER.fullmatch(word) and (why := _runner(before)):
            return f"gives {word} to {why}"
    return ""


def _runner(before: Sequence[str]) -> str:
    """Return what would run the next argument of a command line as a program; empty where nothing does.

    Any word may be a program, since many programs start others. What follows the text or file of an interpreter is
    data.
    """
    for place, word in enumerate(before):
        name, given = program_name(word), before[place + 1 :]
        if name in _COMMAND_TAKERS:
            return f"{name}, which runs commands in its arguments"
        if name in _INTERPRETERS:
            return f"{name} as a program" if _awaits_text(name, given) else ""
        if name in _STARTERS and not _names_program(name, given):
            return f"{name} as the program that it starts"
    return ""


def _awaits_text(name: str, given: Sequence[str]) -> bool:
    """Return True if the next argument is the program text or the file that an interpreter runs."""
    flags = [bool(re.fullmatch(text_flags(name), word.lower())) for word in given]
    fixed = any(not word.startswith("-") and not PLACEHOLDER.search(word) for word in given)
    return flags[-1:] == [True] or not (fixed or any(flags))


def _names_program(name: str, given: Sequence[str]) -> bool:
    words = unwrapped(given, WRAPPERS.get(name, "").split())
    while words and words[0] in _SUBCOMMANDS:
        words = unwrapped(words[1:], ())
    return bool(words) and not PLACEHOLDER.search(words[0])
