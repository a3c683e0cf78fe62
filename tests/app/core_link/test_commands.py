"""Commands by owner, and their search."""

from app.core_link.commands import Command, Commands, find


def test_commands_belong_to_owners_and_are_found_by_words() -> None:
    commands = Commands()
    heard: list[int] = []
    commands.watch(lambda: heard.append(1))
    new = Command(id="new", text="New case", keys="Ctrl+N", do=lambda: None, group="Test cases")
    run = Command(id="run", text="Run the selection", do=lambda: None, needs=lambda: False)
    commands.put("page", [new, run])
    assert commands.possible() == (new,)
    assert commands.groups() == {"Test cases": (new,)}
    assert find(commands.all(), "sel run") == [run]
    commands.put("page", [])
    assert (commands.all(), heard) == ((), [1, 1])
