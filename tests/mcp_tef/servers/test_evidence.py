"""What is kept of a program's last words."""

from mcp_tef.model.secrets import Secret
from mcp_tef.servers.observations import Observations, Tail, quoted


def test_the_last_twenty_lines_are_kept_however_many_there_were() -> None:
    tail = Tail()
    for number in range(100_000):
        tail.feed(f"line {number}\n".encode())
    lines = tail.text.splitlines()
    assert (len(lines), lines[0], lines[-1]) == (20, "line 99980", "line 99999")


def test_colours_and_control_characters_are_left_out() -> None:
    tail = Tail()
    tail.feed(b"\x1b[1;31mred\x1b[0m\x07 \x1b]0;title\x07and\ttab\r\nnext \xff\n")
    assert tail.text == "red and\ttab\nnext \ufffd"


def test_a_quote_is_one_short_line() -> None:
    assert quoted("two\nlines\x00 \x1b[2Jof text") == "two lines of text"
    assert quoted("x" * 500) == "x" * 119 + "…"


def test_secrets_are_left_out_of_the_context() -> None:
    observations = Observations(secrets=(Secret("hush-4711"),))
    observations.stderr.feed(b"the key hush-4711 is wrong")
    assert observations.context["stderr_tail"] == "the key ••• is wrong"
