"""Thousands of calls generated from the OpenAPI document: no failures, responses as declared."""

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from support.pages import Pages
from support.program import ROOT, Server, environment
from support.rest import create_token

CHECKS = [
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_headers_conformance", "response_schema_conformance", "unsupported_method",
    "allow_header_conformance",
]

# Tables of characters, which take Hypothesis 20 s of processor time, are kept like what is built.
TABLES = ROOT / ".build/hypothesis"

# Without these, random values would be used for path parameters.
GROUND = """
[parameters]
"path.projectId" = "{project}"
"path.tenantId" = "{tenant}"
"query.key" = "{key}"
"""


def standalone(server):
    owner = Pages(server.url).set_up(server.setup_code)
    owner.create_project("fuzzed-shop")
    tenant = owner.create_tenant("fuzzed-shop", "acme")
    token = create_token(server.data, "fuzzed-shop", "owner")
    return "fuzzed-shop", tenant, owner.api_key("fuzzed-shop"), token


def emulator(server):
    return "demo-project", "some-tenant", "any-key", "owner"


@pytest.mark.timeout(500)
@pytest.mark.parametrize("profile", ["standalone", "emulator"])
def test_every_response_is_as_declared(profile, tmp_path):
    with Server(tmp_path / "data", profile=profile) as server:
        project, tenant, key, token = globals()[profile](server)
        (tmp_path / "ground.toml").write_text(
            GROUND.format(project=project, tenant=tenant, key=key))
        result = subprocess.run(
            [sys.executable, "-m", "schemathesis.cli", "--config-file", tmp_path / "ground.toml",
             "run", server.url + "/openapi.json", "--checks", ",".join(CHECKS),
             "--header", f"Authorization: Bearer {token}", "--phases", "coverage,fuzzing",
             "--max-examples", "3", "--generation-deterministic", "--no-shrink",
             "--suppress-health-check", "all", "--warnings", "off",
             "--request-timeout", "30", "--continue-on-failure", "--no-color",
             # This method only responds with 501.
             "--exclude-path-regex", "signInWithGameCenter$",
             # Deprecated paths lead to the same methods; testing them once is enough.
             *(["--exclude-deprecated"] if profile == "emulator" else [])],
            cwd=tmp_path, capture_output=True, text=True, timeout=480, env=environment({
                "SCHEMATHESIS_HOOKS": "support.fuzzing", "HYPOTHESIS_STORAGE_DIRECTORY": str(TABLES),
                "PYTHONPATH": str(Path(__file__).parent), "FUZZED_URL": server.url,
                "FUZZED_PROJECT": project, "FUZZED_KEY": key, "FUZZED_TOKEN": token}))
        assert result.returncode == 0, result.stdout + result.stderr
        # It ran for every operation except two for Game Center and the document itself, which was
        # already read.
        described = httpx.get(server.url + "/openapi.json").json()["paths"]
        operations = sum(
            not (profile == "emulator" and operation.get("deprecated"))
            for item in described.values() for operation in item.values())
        assert int(re.search(r"Tested: (\d+)", result.stdout)[1]) >= operations - 3
        assert int(re.search(r"(\d+) generated", result.stdout)[1]) > 20 * operations
        assert server.process.poll() is None
