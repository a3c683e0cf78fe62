"""Questions of consent: when they show all of an action, what they name, and what makes two of them the same."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.model.servers import OAuthClient, ServerSpec, Transport
from mcp_tef.trust.consents import (
    COMMAND,
    SCRIPT,
    TYPED_KEY,
    ConsentError,
    ConsentKind,
    ConsentRequest,
    connection_request,
    contact_request,
    fact_line,
    fact_lines,
    key_request,
    path_request,
    resolved_path,
    shortened,
    typed_loopback,
    used_names,
)

ADDRESS = "https://tools.example/mcp"
REMOTE = ServerSpec(name="docs", transport=Transport.STREAMABLE_HTTP, url=ADDRESS)


def question(*texts: str, label: str = COMMAND, kind: ConsentKind = ConsentKind.PROGRAM) -> ConsentRequest:
    return ConsentRequest(kind=kind, subject="desk", fingerprint="f" * 64, target="run it", facts=((label, texts),))


def test_a_question_holds_300_texts_and_10_000_characters_and_not_one_more() -> None:
    assert question(*["a"] * 300).whole
    assert not question(*["a"] * 301).whole
    assert question("a" * 9_998).whole  # and two quotes
    assert not question("a" * 9_999).whole
    assert question("\n".join("a" * 300), label=SCRIPT).whole
    assert question("\n".join("a" * 301), label=SCRIPT).obstacle == "What desk would run is too long to be shown whole."


def test_a_text_that_looks_like_a_key_is_an_obstacle_and_a_place_for_one_or_a_script_is_none() -> None:
    told = question("password=hunter2hunter2").obstacle
    assert '"password=hunter2hunter2" of desk looks like it holds a key or password.' in told
    for plain in ("--password=${PASSWORD}", "--verbose"):
        assert question(plain).obstacle == ""
    assert question("--password=${PASSWORD:-hunter2hunter2}").obstacle
    assert question("password=hunter2hunter2", label=SCRIPT).obstacle == ""


def test_each_kind_of_action_has_its_question_its_problem_and_its_option() -> None:
    told = {kind: question(kind=kind) for kind in (ConsentKind.PROGRAM, ConsentKind.TOOL_CALL, ConsentKind.PATH)}
    assert [one.title for one in told.values()] == [
        "Start desk?",
        "Execute the library tool desk?",
        "Read a file for desk?",
    ]
    assert [one.problem for one in told.values()] == [
        "desk would start a program that you have not allowed: run it.",
        "The library tool desk would do what you have not allowed: run it.",
        "desk would read run it, which you have not allowed.",
    ]
    assert {one.option for one in told.values()} == {f"--allow-program {'f' * 32}"}
    contact = contact_request("docs", ADDRESS)
    assert (contact.title, contact.option) == ("Connect to docs?", "--allow-origin https://tools.example")
    assert contact.problem == "docs would connect to https://tools.example, which you have not allowed."
    key = key_request("openai", "OPENAI_API_KEY", ADDRESS, unencrypted=True)
    assert (key.title, key.unencrypted) == (f"Send the openai key to {ADDRESS}?", True)
    assert key.problem == f"OPENAI_API_KEY would be sent to {ADDRESS}, which you have not allowed."
    assert key.option == f"--allow-origin OPENAI_API_KEY={ADDRESS}"
    typed = replace(key, names=(TYPED_KEY,))
    assert typed.problem.startswith("The openai key that you typed would be sent")
    error = ConsentError.of([contact, key])
    assert (error.message, error.requests) == (f"{contact.problem} {key.problem}", (contact, key))


def test_a_consent_is_described_by_its_target_and_what_is_sent_there() -> None:
    key = key_request("openai", "OPENAI_API_KEY", ADDRESS, unencrypted=False)
    assert key.consent.description == f"{ADDRESS} ← OPENAI_API_KEY"
    assert replace(question(), names=("A",)).consent.description == "run it"
    assert len(replace(question(), target="a" * 3_000).consent.description) == 2_000


def test_a_connection_that_sends_something_is_known_by_its_path_and_another_by_its_origin() -> None:
    def asked(spec: ServerSpec, place: str) -> ConsentRequest:
        return connection_request(spec, place, place, ("here",), unencrypted=True)

    plain, sends = REMOTE, replace(REMOTE, headers={"X": "${TOKEN}"})
    other = "https://tools.example/other"
    assert asked(plain, ADDRESS).fingerprint == asked(plain, other).fingerprint
    assert asked(sends, ADDRESS).fingerprint != asked(sends, other).fingerprint
    assert (asked(plain, ADDRESS).target, asked(sends, ADDRESS).target) == ("https://tools.example", ADDRESS)
    assert (asked(plain, ADDRESS).unencrypted, asked(sends, ADDRESS).unencrypted) == (False, True)
    assert asked(sends, ADDRESS).problem.startswith(f"docs would connect to {ADDRESS}, sending TOKEN, which")
    assert asked(plain, "no address").target == "no address"
    assert asked(plain, ADDRESS).listed_in == ("here",)
    assert asked(plain, ADDRESS).spec == plain


def test_every_place_of_a_definition_counts_from_which_a_value_is_read() -> None:
    oauth = OAuthClient(client_id="us", private_key_file="/k.pem")
    remote = replace(
        REMOTE, url="https://t.example/${A}", headers={"${B}": "${env:C:-x}"}, secret="${keychain:d}", oauth=oauth
    )
    assert used_names(remote) == ("A", "B", "C", f"file:{os.path.realpath('/k.pem')}", "keychain:d")
    program = ServerSpec(
        name="p",
        transport=Transport.STDIO,
        command="${A}",
        args=("${userHome}", "${pathSeparator}"),
        cwd="${B}",
        env={"X": "${C}"},
        env_file="${D}",
    )
    assert used_names(program) == ("A", "B", "C", "D", "userHome")


def test_a_path_is_known_by_where_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    link, real = (path_request("t", str(tmp_path / name)) for name in ("link", "real"))
    assert link.fingerprint == real.fingerprint
    assert (link.kind, link.target) == (ConsentKind.PATH, os.path.realpath(tmp_path / "real"))
    assert link.facts == (("Reads", (link.target,)),)
    assert resolved_path("~/x") == os.path.realpath(os.path.expanduser("~/x"))
    for as_written in ("${HOME}/x/../y", "a\0b"):
        assert resolved_path(as_written) == as_written


def test_a_typed_port_of_this_machine_counts_for_one_workspace() -> None:
    one = typed_loopback("http://127.0.0.1:1", "/a.db")
    assert one.description == "http://127.0.0.1:1 (typed, in /a.db)"
    assert one.kind is ConsentKind.CONNECTION
    others = typed_loopback("http://127.0.0.1:2", "/a.db"), typed_loopback("http://127.0.0.1:1", "/b.db")
    assert len({one.fingerprint, *(other.fingerprint for other in others)}) == 3


@pytest.mark.parametrize(
    ("label", "text", "line"),
    [
        ("Url", "https://exämple.com/", "https://xn--exmple-cua.com/"),
        ("Sets", "https://a.example/", '"https://a.example/"'),
        ("Url", "https://a.example/" + "b" * 382, "https://a.example/" + "b" * 382),
    ],
)
def test_an_address_is_shown_as_one_and_other_texts_in_quotes(label: str, text: str, line: str) -> None:
    assert fact_line(label, text) == line
    assert fact_lines(label, text) == [line]


def test_long_texts_keep_both_ends_and_say_how_much_is_left_out() -> None:
    assert shortened("a" * 400) == f'"{"a" * 400}"'
    assert shortened("a" * 200 + "xyz" + "b" * 200) == f'"{"a" * 200}" … (3 characters left out) … "{"b" * 200}"'
    assert "left out" in fact_line("Url", "https://a.example/" + "b" * 383)
    assert fact_lines(SCRIPT, "one\ntwo\u202e") == ["one", "two\\u202e"]
