"""What no application should send, sent: a clear error in the right shape, and nothing changed."""

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
    scope = f"/v2/projects/{api.project}/{path}"
    return api.http.request(
        "PATCH", scope, params={"updateMask": mask} if mask else None, content=body,
        headers={"Authorization": f"Bearer {api.token}", "Content-Type": "application/json",
                 **(headers or {})})


def window(value):
    return json.dumps({"mfa": {"providerConfigs": [
        {"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": value}}]}})


@pytest.fixture
def configured(api):
    """A project with a window of 3, which must still be there afterwards."""
    api.switch_totp_on(3)
    before = ok(api.admin("GET", "config", version="v2"))
    yield api
    assert ok(api.admin("GET", "config", version="v2")) == before


@pytest.mark.parametrize("value,message", WINDOWS, ids=[json.dumps(value) for value, _ in WINDOWS])
def test_a_window_that_is_none(configured, value, message):
    error = refused(patch(configured, window(value)), message)
    assert error["status"] == "INVALID_ARGUMENT"
    if message == INT32:
        [violation] = error["details"][0]["fieldViolations"]
        assert violation["field"].endswith("adjacent_intervals")


@pytest.mark.parametrize("value", [5, "5", 5.0, "5.0", 5e0], ids=repr)
def test_a_window_in_each_of_its_spellings(api, value):
    ok(patch(api, window(value)))
    config = ok(api.admin("GET", "config", version="v2"))
    assert config["mfa"]["providerConfigs"][0]["totpProviderConfig"] == {"adjacentIntervals": 5}


BODIES = {
    "nothing": b"",
    "no JSON": b"not json",
    "half of it": b'{"mfa": {"providerConfigs": [',
    "a list": b"[]",
    "a number": b"5",
    "a thousand levels": b'{"mfa":' + b"[" * 1000 + b"]" * 1000 + b"}",
    "a thousand levels of objects": b'{"mfa":' * 1000 + b"{}" + b"}" * 1000,
    "invalid UTF-8": b'{"mfa": "\xff\xfe"}',
    "a lone surrogate": b'{"mfa": "\\ud800"}',
    "duplicate members": b'{"mfa": {}, "mfa": {"state": "DISABLED"}}',
    "duplicate members below": b'{"mfa": {"state": "DISABLED", "state": "ENABLED"}}',
    "NUL": b'{"mfa": "a\x00b"}',
    "NUL escaped": b'{"mfa": {"state": "a\\u0000b"}}',
    "a second value": b"{} {}",
    "NaN": b'{"mfa": NaN}',
    "single quotes": b"{'mfa': {}}",
    "a text for a message": b'{"mfa": "on"}',
    "a list for a message": b'{"mfa": []}',
    "a typing error under mfa": b'{"mfa": {"providerConfig": []}}',
    "a state that is none": b'{"mfa": {"providerConfigs": [{"state": "ON", "totpProviderConfig": {}}]}}',
    "two TOTP entries": b'{"mfa": {"providerConfigs": [{"totpProviderConfig": {}},'
                        b' {"totpProviderConfig": {"adjacentIntervals": 1}}]}}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_bad_body(configured, body):
    error = refused(patch(configured, body), "")
    assert error["status"] == "INVALID_ARGUMENT" and error["message"]
    # An error is no place for a megabyte of somebody's text.
    assert len(json.dumps(error)) < 2000


def test_version_1_has_its_own_shape(api):
    for body, reason in ((b"not json", "badRequest"), (b'{"email": {}}', "invalid"),
                         (b'{"email": "a", "email": "b"}', "badRequest")):
        answer = api.http.post(
            "/v1/accounts:signUp", params={"key": api.key}, content=body,
            headers={"Content-Type": "application/json"})
        assert refused(answer, "Invalid")["errors"][0]["reason"] == reason
    error = refused(api.client(":signUp", {"email": "x", "password": "swordfish"}), "INVALID_EMAIL")
    assert "status" not in error and error["errors"][0]["reason"] == "invalid"


@pytest.mark.parametrize("type", ["text/plain", "application/x-www-form-urlencoded", "image/png"])
def test_the_wrong_content_type(configured, type):
    refused(patch(configured, window(5), headers={"Content-Type": type}), "Invalid JSON payload")


def test_ten_megabytes(configured):
    body = b'{"mfa": "' + b"a" * 10_000_000 + b'"}'
    error = refused(patch(configured, body), "Request payload size exceeds", status=413)
    assert error["status"]


def test_ten_megabytes_as_curl_sends_them(configured, tmp_path):
    """curl asks before it sends so much, and gives up when it is told to."""
    (tmp_path / "body").write_bytes(b'{"mfa": "' + b"a" * 10_000_000 + b'"}')
    url = f"{configured.url}/v2/projects/{configured.project}/config?updateMask=mfa"
    said = subprocess.run(
        ["curl", "-sS", "-X", "PATCH", url, "-H", f"Authorization: Bearer {configured.token}",
         "-H", "Content-Type: application/json", "--data-binary", f"@{tmp_path}/body",
         "-w", "%{http_code}", "-o", str(tmp_path / "answer")],
        capture_output=True, text=True, timeout=60)
    assert said.stdout == "413", said
    assert json.loads((tmp_path / "answer").read_text())["error"]["code"] == 413


def test_a_chunked_body_that_never_says_how_long(configured):
    def pieces():
        for _ in range(40):
            yield b"a" * 65536
    try:
        refused(patch(configured, pieces()), "Request payload size exceeds", status=413)
    except (httpx.WriteError, httpx.ReadError):
        # Cut off in the middle of sending, which is an answer too.
        pass


@pytest.mark.parametrize("verb,path,status", [
    ("GET", "/v2/projects/{p}/nothing", 404), ("POST", "/v1/accounts:signUpp", 404),
    ("PUT", "/v2/projects/{p}/config", 405), ("GET", "/v1/accounts:signUp", 405),
])
def test_unknown_addresses_answer_in_json(api, verb, path, status):
    answer = api.http.request(verb, path.format(p=api.project))
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("path", ["/v1/%00", "/v1/%FF%FE", "/v1/%4", "/%2e%2e/%2e%2e/etc/passwd"])
def test_an_address_that_is_badly_coded(api, path):
    with socket.create_connection(httpx.URL(api.url).netloc.decode().split(":")) as connection:
        connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        answer = connection.makefile("rb").read()
    assert re.match(rb"HTTP/1.[01] (400|404) ", answer)


@pytest.mark.parametrize("code", ["", "1", "1000000", "abcdef", "12 34 56 78", "٣٤٥٦٧٨", "-00001"])
def test_a_code_that_is_none(api, code):
    api.switch_totp_on(1)
    _, id_token = api.user("eve@example.com")
    start = ok(api.factor(
        "mfaEnrollment:start", {"idToken": id_token, "totpEnrollmentInfo": {}}))
    answer = api.factor("mfaEnrollment:finalize", {
        "idToken": id_token, "displayName": "Phone", "totpVerificationInfo": {
            "sessionInfo": start["totpSessionInfo"]["sessionInfo"], "verificationCode": code}})
    refused(answer, "INVALID_CODE" if code else "MISSING_CODE")
