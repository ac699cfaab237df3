"""Files, threads, or a DNS server that the system lacks for now: a start is worth repeating."""

import pytest

from support.certificates import make_certificate
from support.program import ROOT, initialize, preloaded, run

pytestmark = pytest.mark.sqlite


def start(tmp_path, function, caller, call, *words):
    """Starts a server that fails at a call of a function, and returns its result."""
    initialize(tmp_path / "data")
    env = {**preloaded(tmp_path, "scarce"), "SCARCE": function, "SCARCE_CALLER": caller,
           "SCARCE_AT": str(call)}
    return run("serve", "--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--assets", ROOT,
               *words, env=env)


@pytest.mark.parametrize("call", [1, 2])
@pytest.mark.parametrize("is_encrypted", [False, True])
def test_a_start_without_files_for_the_engine_is_worth_repeating(tmp_path, call, is_encrypted):
    make_certificate(tmp_path, 90)
    words = ["--tls-certificate", tmp_path / "certificate.pem", "--tls-key", tmp_path / "key.pem"]
    refusal = start(tmp_path, "epoll_create1", "libmicrohttpd", call, "--access-log", "none",
                    *(words if is_encrypted else []))
    assert refusal.returncode == 75, refusal.stderr
    assert refusal.stderr == "The system lacks resources: Too many open files.\n"


# Those of the access log, the deadlines, and new connections, and that of the engine.
@pytest.mark.parametrize("caller, call", [
    ("countersign", 1), ("countersign", 2), ("countersign", 3), ("libmicrohttpd", 1)])
def test_a_start_without_a_thread_is_worth_repeating(tmp_path, caller, call):
    refusal = start(tmp_path, "pthread_create", caller, call)
    assert refusal.returncode == 75, refusal.stderr
    assert "The system lacks resources: Resource temporarily unavailable." in refusal.stderr


def test_a_start_before_the_dns_server_answers_is_worth_repeating(tmp_path):
    refusal = start(tmp_path, "getaddrinfo", "countersign", 1)
    assert refusal.returncode == 75, refusal.stderr
    assert refusal.stderr == (
        "Cannot listen on 127.0.0.1, port 0: Temporary failure in name resolution.\n")
