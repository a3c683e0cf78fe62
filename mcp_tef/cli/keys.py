"""`keys …`: keys in the keychain of the operating system, and nowhere else."""

import os
from argparse import Namespace

from mcp_tef.cli.arguments import Verbs, add_group, add_verb
from mcp_tef.cli.terminal import Terminal


def register(verbs: Verbs) -> None:
    """Add the verbs."""
    group = add_group(verbs, "keys", "keep keys of providers in the system keychain")
    set_parser = add_verb(group, "set", "remember a key, typed or piped in", set_key)
    set_parser.add_argument("provider", metavar="PROVIDER")
    forget_parser = add_verb(group, "forget", "forget a remembered key", forget)
    forget_parser.add_argument("provider", metavar="PROVIDER")
    list_parser = add_verb(group, "list", "names of providers with a remembered key", list_keys)
    list_parser.add_argument("provider", nargs="?", metavar="PROVIDER", help="only this one")


def set_key(arguments: Namespace, terminal: Terminal) -> None:
    """Remember a key."""
    from mcp_tef import KeyRing

    key = terminal.read_key(f"Key for {arguments.provider}: ")
    KeyRing(os.environ).remember(arguments.provider, key)
    terminal.document({"provider": arguments.provider, "remembered": True})
    terminal.say(f"The key for {arguments.provider} is in the system keychain.")


def forget(arguments: Namespace, terminal: Terminal) -> None:
    """Forget a key."""
    from mcp_tef import KeyRing

    KeyRing(os.environ).forget_remembered(arguments.provider)
    terminal.document({"provider": arguments.provider, "remembered": False})
    terminal.say(f"The key for {arguments.provider} is forgotten.")


def list_keys(arguments: Namespace, terminal: Terminal) -> None:
    """Name the providers whose key is remembered, never a value."""
    from mcp_tef import KeyRing

    names = [name for name in KeyRing(os.environ).remembered() if arguments.provider in (None, name)]
    terminal.document({"providers": names})
    terminal.say(*(names or ["No key is remembered."]))
