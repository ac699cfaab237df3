"""The program without the package trait PostgreSQL, and so without libpq.

SwiftPM plans that build; only the module with the trait's conditions is compiled, and linked with the modules that
were built for the other tests.
"""

import re
import subprocess

import httpx
import pytest

from support.plans import Plan, without
from support.program import PROGRAM, ROOT, environment
from support.waiting import until

# Its databases are files.
pytestmark = [pytest.mark.timeout(600), pytest.mark.sqlite]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    plan = Plan(folder / "build", "--disable-default-traits")
    compiled, linked = folder / "countersign.o", folder / "countersign"
    sources, words = plan.sources("countersign")
    subprocess.run([*words, "-wmo", *sources, "-o", compiled], check=True, cwd=ROOT)
    objects, words = plan.command("exe")
    objects = [one for one in objects if one.endswith(".o") and "/countersign.build/" not in one]
    words = without(words)
    words[words.index("-o") + 1] = linked
    subprocess.run([*words, *objects, compiled], check=True, cwd=ROOT)
    return linked


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=60,
                          env=environment())


def test_it_is_not_linked_with_libpq(program):
    def libraries(file):
        return subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
    assert "libpq" in libraries(PROGRAM)
    assert "libpq" not in libraries(program) and "libsqlite3" in libraries(program)


def test_a_database_on_a_server_is_refused_with_the_reason(program, tmp_path):
    for words in (["serve", "--data", tmp_path, "--assets", ROOT], ["init", "--data", tmp_path]):
        refused = run(program, *words, "--database", "postgresql://countersign@127.0.0.1/instance")
        assert refused.returncode == 78, refused.stderr
        assert "no support for PostgreSQL" in refused.stderr, refused.stderr
    assert run(program, "move", "--from", tmp_path, "--to", "postgresql://a@b/c").returncode == 64


def test_it_serves_the_file(program, tmp_path):
    assert run(program, "init", "--data", tmp_path / "data").returncode == 0
    words = [program, "serve", "--data", tmp_path / "data", "--assets", ROOT,
             "--listen", "127.0.0.1:0"]
    with subprocess.Popen(words, env=environment(), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as server:
        try:
            for line in server.stdout:
                if found := re.search(r" serves ([^\s\"]+)", line):
                    break
            until(lambda: httpx.get(f"{found[1]}/readyz").status_code == 200, "it's ready")
            assert httpx.get(f"{found[1]}/setup").status_code == 200
        finally:
            server.terminate()
            assert server.wait(30) == 0
