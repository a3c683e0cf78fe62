"""`serve`: its options and variables, TLS, and its end by a signal."""

import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.support.command_line import ROOT, command, say
from tests.support.serving_verbs import serving

TOKEN = "a-token-of-mine-in-a-file-0123456789"


@contextmanager
def served(*words: str | Path, **variables: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a service in a process of its own."""
    environment = {**os.environ, **variables}
    with subprocess.Popen(command("serve", *words), stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        try:
            yield next(line.strip() for line in process.stderr if line.startswith("http")), process
        finally:
            process.terminate()
            process.communicate(timeout=60)


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    files = folder / "cert.pem", folder / "key.pem"
    files[0].write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))
    return files


def test_it_serves_over_tls_with_the_token_of_a_file_until_a_signal_ends_it(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n", "utf-8")
    cert, key = certificate(tmp_path)
    secure = ("--tls-cert", cert, "--tls-key", key, "--token-file", token)
    words = ("--port", "0", "--host", "localhost", "--workspace", tmp_path / "w.db", *secure)
    with served(*words, LOG_LEVEL="INFO") as (address, process):
        assert address.startswith("https://localhost:")
        trusting = ssl.create_default_context(cafile=str(cert))
        with pytest.raises(HTTPError, match="401"):
            urlopen(f"{address}/test-cases", context=trusting)
        asked = Request(f"{address}/test-cases", headers={"Authorization": f"Bearer {TOKEN}"})
        assert json.load(urlopen(asked, context=trusting))["total"] == 0
    assert process.returncode == 143


async def test_port_and_token_come_from_the_environment_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "0")
    monkeypatch.setenv("MCP_TEF_TOKEN", TOKEN)
    async with serving("serve", "--workspace", tmp_path / "w.db") as address, httpx.AsyncClient() as client:
        assert (await client.get(f"{address}/test-cases")).status_code == 401
        assert (await client.get(f"{address}/health")).json()["status"] == "healthy"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--port", "70000"), "70000 is not a port"),
        (("--tls-cert", "cert.pem"), "needs its key"),
        (("--port", "0", "--tls-cert", "gone.pem", "--tls-key", "gone.pem"), "certificate cannot be used"),
        (("--token-file", "gone"), "cannot be read"),
        (("--port", "0", "--host", "192.0.2.7"), "cannot be used"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_sentence(tmp_path: Path, words: tuple[str, ...], problem: str) -> None:
    said = say("serve", *words, "--workspace", tmp_path / "w.db")
    assert said.code in (2, 3)
    assert problem in said.err


def test_without_the_extra_one_sentence_says_how_to_install_it(tmp_path: Path) -> None:
    start = "import sys; sys.modules['fastapi'] = None; from mcp_tef.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", start, "serve", "--workspace", str(tmp_path / "w.db")]
    said = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    assert said.returncode == 2
    assert 'pip install "mcp-tef-desktop[serve]"' in said.stderr
