"""Invalid input gets a clear error in the right format and changes nothing."""

import json
import re
import socket
import subprocess

import httpx
import pytest

from support.rest import ok, refused

INT32 = ("Invalid value at 'config.mfa.provider_configs[0].totp_provider_config.adjacent_intervals' "
         "(TYPE_INT32), ")
RANGE = "INVALID_ADJACENT_INTERVAL_RANGE : "

WINDOWS = [
    (11, RANGE), (-1, RANGE), ("11", RANGE), (5.5, INT32 + "5.5"), ("5.5", INT32 + '"5.5"'),
    ("abc", INT32 + '"abc"'), ("NUM_ADJ_INTERVALS", INT32 + '"NUM_ADJ_INTERVALS"'),
    ({}, INT32), ({"NUM_ADJ_INTERVALS": 5}, INT32), (True, INT32), (2147483648, INT32),
    (10**30, INT32), ("", INT32),
]


def patch(api, body, mask="mfa", headers=None, path="config"):
    address = f"/v2/projects/{api.project}/{path}"
    return api.http.request(
        "PATCH", address, params={"updateMask": mask} if mask else None, content=body,
        headers={"Authorization": f"Bearer {api.token}", "Content-Type": "application/json",
                 **(headers or {})})


def window(value):
    return json.dumps({"mfa": {"providerConfigs": [
        {"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": value}}]}})


@pytest.fixture
def configured(api):
    """A project with a window of 3, which must be unchanged afterwards."""
    api.switch_totp_on(3)
    before = ok(api.admin("GET", "config", version="v2"))
    yield api
    assert ok(api.admin("GET", "config", version="v2")) == before


@pytest.mark.parametrize("value,message", WINDOWS, ids=[json.dumps(value) for value, _ in WINDOWS])
def test_an_invalid_window_is_refused(configured, value, message):
    error = refused(patch(configured, window(value)), message)
    assert error["status"] == "INVALID_ARGUMENT"
    if message == INT32:
        [violation] = error["details"][0]["fieldViolations"]
        assert violation["field"].endswith("adjacent_intervals")


@pytest.mark.parametrize("value", [5, "5", 5.0, "5.0", 5e0], ids=repr)
def test_a_window_is_accepted_in_every_json_spelling(api, value):
    ok(patch(api, window(value)))
    config = ok(api.admin("GET", "config", version="v2"))
    assert config["mfa"]["providerConfigs"][0]["totpProviderConfig"] == {"adjacentIntervals": 5}


BODIES = {
    "empty": b"",
    "not JSON": b"not json",
    "truncated JSON": b'{"mfa": {"providerConfigs": [',
    "an array": b"[]",
    "a number": b"5",
    "a thousand nested arrays": b'{"mfa":' + b"[" * 1000 + b"]" * 1000 + b"}",
    "a thousand nested objects": b'{"mfa":' * 1000 + b"{}" + b"}" * 1000,
    "invalid UTF-8": b'{"mfa": "\xff\xfe"}',
    "a lone surrogate": b'{"mfa": "\\ud800"}',
    "duplicate members": b'{"mfa": {}, "mfa": {"state": "DISABLED"}}',
    "duplicate nested members": b'{"mfa": {"state": "DISABLED", "state": "ENABLED"}}',
    "NUL": b'{"mfa": "a\x00b"}',
    "an escaped NUL": b'{"mfa": {"state": "a\\u0000b"}}',
    "two values": b"{} {}",
    "NaN": b'{"mfa": NaN}',
    "single quotes": b"{'mfa': {}}",
    "a string for a message": b'{"mfa": "on"}',
    "an array for a message": b'{"mfa": []}',
    "an unknown member of mfa": b'{"mfa": {"providerConfig": []}}',
    "unknown state": b'{"mfa": {"providerConfigs": [{"state": "ON", "totpProviderConfig": {}}]}}',
    "two TOTP entries": b'{"mfa": {"providerConfigs": [{"totpProviderConfig": {}},'
                        b' {"totpProviderConfig": {"adjacentIntervals": 1}}]}}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_an_invalid_body_is_refused(configured, body):
    error = refused(patch(configured, body), "")
    assert error["status"] == "INVALID_ARGUMENT" and error["message"]
    # Errors don't repeat megabytes of the request.
    assert len(json.dumps(error)) < 2000


def test_version_1_has_its_own_error_format(api):
    for body, reason in ((b"not json", "badRequest"), (b'{"email": {}}', "invalid"),
                         (b'{"email": "a", "email": "b"}', "badRequest")):
        answer = api.http.post(
            "/v1/accounts:signUp", params={"key": api.key}, content=body,
            headers={"Content-Type": "application/json"})
        assert refused(answer, "Invalid")["errors"][0]["reason"] == reason
    error = refused(api.client(":signUp", {"email": "x", "password": "bright-swordfish"}), "INVALID_EMAIL")
    assert "status" not in error and error["errors"][0]["reason"] == "invalid"


@pytest.mark.parametrize("type", ["text/plain", "application/x-www-form-urlencoded", "image/png"])
def test_the_wrong_content_type_is_refused(configured, type):
    refused(patch(configured, window(5), headers={"Content-Type": type}), "Invalid JSON payload")


# nginx, in front of several nodes, refuses more than 16 MiB itself.
TOO_LARGE_FOR_PROXY = [pytest.param(size, marks=pytest.mark.sqlite) for size in (17, 40)]


@pytest.mark.parametrize("megabytes", [10, *TOO_LARGE_FOR_PROXY])
def test_a_body_of_megabytes_is_refused(configured, megabytes):
    body = b'{"mfa": "' + b"a" * (megabytes << 20) + b'"}'
    error = refused(patch(configured, body), "Request payload size exceeds", status=413)
    assert error["status"]
    path = f"/v1/projects/{configured.project}/accounts:batchCreate"
    answer = configured.http.post(path, content=body)
    if megabytes > 16:
        refused(answer, "Request payload size exceeds", status=413)
    else:
        refused(answer, "Request is missing required authentication", status=401)


def test_a_body_of_ten_megabytes_from_curl_is_refused(configured, tmp_path):
    """curl sends `Expect: 100-continue` first, and doesn't send the body after a refusal."""
    (tmp_path / "body").write_bytes(b'{"mfa": "' + b"a" * 10_000_000 + b'"}')
    url = f"{configured.url}/v2/projects/{configured.project}/config?updateMask=mfa"
    result = subprocess.run(
        ["curl", "-sS", "-X", "PATCH", url, "-H", f"Authorization: Bearer {configured.token}",
         "-H", "Content-Type: application/json", "--data-binary", f"@{tmp_path}/body",
         "-w", "%{http_code}", "-o", str(tmp_path / "answer")],
        capture_output=True, text=True, timeout=60)
    assert result.stdout == "413", result
    assert json.loads((tmp_path / "answer").read_text())["error"]["code"] == 413


def test_a_chunked_body_without_a_length_is_limited(configured):
    def pieces():
        for _ in range(40):
            yield b"a" * 65536
    refused(patch(configured, pieces()), "Request payload size exceeds", status=413)


@pytest.mark.parametrize("verb,path,status", [
    ("GET", "/v2/projects/{p}/nothing", 404), ("POST", "/v1/accounts:signUpp", 404),
    ("PUT", "/v2/projects/{p}/config", 405), ("GET", "/v1/accounts:signUp", 405),
])
def test_unknown_paths_are_answered_in_json(api, verb, path, status):
    answer = api.http.request(verb, path.format(p=api.project))
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/v1/%00", "/v1/%FF%FE", "/v1/%4", "/%2e%2e/%2e%2e/etc/passwd"])
def test_a_path_with_invalid_escapes_is_refused(api, path):
    with socket.create_connection(httpx.URL(api.url).netloc.decode().split(":")) as connection:
        connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        answer = connection.makefile("rb").read()
    assert re.match(rb"HTTP/1.[01] (400|404) ", answer)


@pytest.mark.parametrize("code", ["", "1", "1000000", "abcdef", "12 34 56 78", "٣٤٥٦٧٨", "-00001"])
def test_a_malformed_code_is_refused(api, code):
    api.switch_totp_on(1)
    _, id_token = api.user("eve@example.com")
    start = ok(api.factor(
        "mfaEnrollment:start", {"idToken": id_token, "totpEnrollmentInfo": {}}))
    answer = api.factor("mfaEnrollment:finalize", {
        "idToken": id_token, "displayName": "Phone", "totpVerificationInfo": {
            "sessionInfo": start["totpSessionInfo"]["sessionInfo"], "verificationCode": code}})
    refused(answer, "INVALID_CODE" if code else "MISSING_CODE")
