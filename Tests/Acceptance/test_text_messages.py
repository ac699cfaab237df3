"""Text messages to users, through a gateway that may fail."""

import itertools
import json
import re
import threading
import time

import httpx
import pytest

from support.gateway import Gateway, is_signed
from support.pages import Pages
from support.program import Server, preloaded, query, run
from support.rest import Api, create_token, ok, refused
from support.waiting import until

PROJECT = "texting"
SECRET = {"COUNTERSIGN_SMS_SECRET": "open sesame"}
numbers = itertools.count(1)


def number(area="1202555"):
    return f"+{area}{next(numbers):04}"


def set_up(server):
    pages = Pages(server.url).set_up(server.setup_code)
    pages.create_project(PROJECT)
    token = create_token(server.data, PROJECT, "owner")
    api = Api(server.url, PROJECT, pages.api_key(PROJECT), token)
    ok(api.admin("PATCH", "config", {
        "signIn": {"phoneNumber": {"enabled": True}},
        "mfa": {"state": "ENABLED", "enabledProviders": ["PHONE_SMS"]}}, version="v2",
                 params={"updateMask": "signIn.phoneNumber.enabled,mfa"}))
    return pages, api


def flags(gateway, *more):
    return ["--sms-url", f"{gateway.url}/sms", "--outbound-allow", "127.0.0.0/8", *more]


def request_code(api, phone):
    return api.client(":sendVerificationCode", {"phoneNumber": phone, "recaptchaToken": "x"})


def enroll(api, phone, id_token=None):
    """Starts the enrollment of a number, by default with a new user's session."""
    token = id_token or api.user(f"user{next(numbers)}@example.com")[1]
    return api.factor("mfaEnrollment:start", {
        "idToken": token, "phoneEnrollmentInfo": {"phoneNumber": phone}})


def sign_in(api, session, code):
    return api.client(":signInWithPhoneNumber", {"sessionInfo": session, "code": code})


def test_a_code_arrives_once_although_the_gateway_fails_first(tmp_path):
    with Gateway([503, 429]) as gateway, Server(tmp_path, *flags(gateway), env=SECRET) as server:
        pages, api = set_up(server)
        phone = number()
        session = ok(request_code(api, phone))["sessionInfo"]
        # The third attempt succeeds, after 5 and 10 seconds.
        messages = gateway.messages(3)
        assert all(is_signed(headers, body, b"open sesame")
                   for _, headers, body in gateway.requests)
        assert len({message["id"] for message in messages}) == 1
        assert {headers["Idempotency-Key"] for _, headers, _ in gateway.requests} == {
            messages[0]["id"]}
        assert messages[0]["to"] == phone and messages[0]["project"] == PROJECT
        code = re.search(r"\b\d{6}\b", messages[0]["text"]).group()
        assert ok(sign_in(api, session, code))["phoneNumber"] == phone

        def is_sent():
            text = pages.get(f"/projects/{PROJECT}/messages").text
            return phone in text and re.search(r'class="chip[^"]*">sent<', text)
        until(is_sent, "the message is sent")
        assert len(gateway.requests) == 3
        # Only the recipient can read what the server sends.
        link = re.search(
            rf'href="(/projects/{PROJECT}/messages/\d+)"',
            pages.get(f"/projects/{PROJECT}/messages").text).group(1)
        assert code not in pages.get(link).text
        opened = pages.post(f"{link}/text", {}, page="/account", follow_redirects=True)
        assert code not in opened.text


def test_a_message_that_the_gateway_refuses_fails(tmp_path):
    with Gateway([400], b"no such number") as gateway:
        with Server(tmp_path, *flags(gateway), env=SECRET) as server:
            pages, api = set_up(server)
            ok(request_code(api, number()))
            gateway.received(1)

            def is_failed():
                text = pages.get(f"/projects/{PROJECT}/messages").text
                return re.search(r'class="chip[^"]*">failed<', text)
            until(is_failed, "the message failed")
            assert len(gateway.requests) == 1


def outbox(server):
    return query(server.data, "SELECT tries, sent_at IS NOT NULL FROM outbox ORDER BY message_id")


def test_requests_that_hang_delay_no_other_numbers(tmp_path):
    slow, released = {number() for _ in range(3)}, threading.Event()

    def hang(body):
        if json.loads(body)["to"] in slow:
            released.wait(60)

    with Gateway(before=hang) as gateway, Server(
            tmp_path, *flags(gateway), env=SECRET) as server:
        _, api = set_up(server)
        for phone in slow:
            ok(request_code(api, phone))
        gateway.received(3)
        start = time.monotonic()
        others = [number() for _ in range(3)]
        for phone in others:
            ok(request_code(api, phone))
        messages = gateway.messages(6)
        assert time.monotonic() - start < 15
        assert {message["to"] for message in messages[3:]} == set(others)
        released.set()
        until(lambda: all(sent for _, sent in outbox(server)), "all are sent")
        assert len(gateway.requests) == 6


def test_a_gateway_that_never_responds_is_paused_and_its_messages_stay(tmp_path):
    broken = threading.Event()
    broken.set()

    def hang_up(_):
        # The connection closes without a response.
        if broken.is_set():
            raise ConnectionAbortedError

    with Gateway(before=hang_up) as gateway, Server(
            tmp_path, *flags(gateway), env=SECRET) as server:
        _, api = set_up(server)
        for _ in range(3):
            ok(request_code(api, number()))
        server.wait_for_line(r"(Delivery of text messages paused)")
        broken.clear()
        until(lambda: all(sent for _, sent in outbox(server)), "all are sent", 90)
        # A message that was sent again had the same ID.
        ids = {json.loads(body)["id"] for _, _, body in gateway.requests}
        assert len(ids) == 3


def test_a_stopping_server_sends_the_message_in_progress_and_no_second_time(tmp_path):
    released = threading.Event()
    with Gateway(before=lambda body: released.wait(60)) as gateway:
        with Server(tmp_path, *flags(gateway), env=SECRET) as server:
            _, api = set_up(server)
            ok(request_code(api, number()))
            gateway.received(1)
            server.terminate()
            threading.Timer(2, released.set).start()
            assert server.wait(60) == 0
            [(tries, sent)] = outbox(server)
            assert tries == 1 and sent
            # One that takes longer is sent again after the next start.
            released.clear()
        with Server(tmp_path, *flags(gateway), env=SECRET) as server:
            api.url = server.url
            api.http = httpx.Client(base_url=server.url, timeout=60)
            ok(request_code(api, number()))
            gateway.received(2)
            start = time.monotonic()
            server.terminate()
            assert server.wait(60) == 0
            assert time.monotonic() - start < 25
            assert [bool(sent) for _, sent in outbox(server)] == [True, False]
        released.set()


def test_a_message_that_the_gateway_accepts_is_sent_once_whatever_the_body(tmp_path):
    with Gateway(response=b"x" * 1_100_000) as gateway, Server(
            tmp_path, *flags(gateway), env=SECRET) as server:
        _, api = set_up(server)
        ok(request_code(api, number()))
        until(lambda: any(sent for _, sent in outbox(server)), "it's sent")
        assert len(gateway.requests) == 1


def test_a_redirect_is_not_followed(tmp_path):
    with Gateway([307]) as gateway, Server(tmp_path, *flags(gateway), env=SECRET) as server:
        _, api = set_up(server)
        ok(request_code(api, number()))
        ok(request_code(api, number()))
        assert {path for path, _, _ in gateway.received(2)} == {"/sms"}


def test_a_private_address_that_is_not_allowed_gets_nothing(tmp_path):
    with Gateway() as gateway:
        with Server(tmp_path, "--sms-url", f"{gateway.url}/sms", env=SECRET) as server:
            _, api = set_up(server)
            ok(request_code(api, number()))
            server.wait_for_line(r"(--outbound-allow) doesn")
        assert gateway.requests == []


@pytest.mark.parametrize("addresses", [
    "127.0.0.1,1.1.1.1", "1.1.1.1,127.0.0.1", "169.254.169.254,10.0.0.1,1.1.1.1,192.168.0.1"])
def test_a_private_address_of_a_name_with_a_public_one_is_never_dialed(tmp_path, addresses):
    log = tmp_path / "dialed"
    env = {**SECRET, **preloaded(tmp_path, "resolve"), "RESOLVE_TO": addresses,
           "RESOLVE_LOG": str(log)}
    with Gateway() as gateway:
        port = gateway.http.server_port
        with Server(tmp_path / "data", "--sms-url", f"https://mixed.example:{port}/sms",
                    env=env) as server:
            _, api = set_up(server)
            ok(request_code(api, number()))
            # It's retried after 5 seconds.
            until(lambda: log.exists() and len(log.read_text().split()) >= 2, "the public address is dialed", 60)
            assert server.stop() == 0
        assert set(log.read_text().split()) == {f"1.1.1.1:{port}"}
        assert gateway.requests == []


def test_daily_limits_hold_per_region_and_pool_and_show(tmp_path):
    words = ["--sms-daily", "3", "--sms-daily-per-region", "2", "--metrics-listen", "127.0.0.1:0"]
    with Gateway() as gateway, Server(tmp_path, *flags(gateway, *words), env=SECRET) as server:
        pages, api = set_up(server)
        # Half of each limit is reserved for messages in a session.
        ok(request_code(api, number()))
        ok(enroll(api, number()))
        refused(enroll(api, number()), "QUOTA_EXCEEDED")
        ok(enroll(api, number("4930555")))
        refused(enroll(api, number("4930555")), "QUOTA_EXCEEDED")
        gateway.received(3)
        metrics = server.wait_for_line(r"Metrics: (\S+)")
        for line in ('countersign_sms_attempts_total{result="sent"} 3',
                     "countersign_sms_limit_rejections_total 2", "countersign_sms_queued 0"):
            until(lambda: line in httpx.get(metrics).text.splitlines(), line)
        until(lambda: "daily limit reached" in pages.get(f"/projects/{PROJECT}").text,
              "the overview shows the limit", 90)


@pytest.mark.parametrize("has_gateway", [True, False])
def test_what_anyone_requests_leaves_second_factors_their_half(tmp_path, has_gateway):
    words = ["--sms-daily", "1000", "--sms-daily-per-region", "80", "--trusted-proxy", "127.0.0.1"]
    with Gateway() as gateway, Server(
            tmp_path, *(flags(gateway) if has_gateway else []), *words, env=SECRET) as server:
        _, api = set_up(server)
        sessions = [api.user(f"user{index}@example.com")[1] for index in range(5)]
        known = [number() for _ in range(20)]
        for phone in known:
            ok(api.admin("POST", "accounts", {"phoneNumber": phone}))

        def ask(network, phone):
            return api.client(
                ":sendVerificationCode", {"phoneNumber": phone, "recaptchaToken": "x"},
                headers={"X-Forwarded-For": f"198.51.100.{network}"}).status_code

        # Of the 40 messages of a region that anyone can request, an hour gets 4, and a network 5 a day.
        answers = [ask(network, known[(16 * network + index) % 20])
                   for network in range(5) for index in range(16)]
        assert answers.count(200) == 4 and set(answers) == {200, 400}
        for session in sessions:
            ok(enroll(api, number(), session))


@pytest.mark.parametrize("words, env, problems", [
    (["--sms-url", "http://sms.example.com"], {}, ["--sms-url must be https", "requires a secret"]),
    (["--sms-url", "ftp://x"], {}, ["--sms-url must begin with https://", "requires a secret"]),
    (["--sms-from", "x"], {}, ["--sms-from requires --sms-url."]),
    (["--sms-url", "https://x", "--sms-daily", "0", "--outbound-allow", "x"], SECRET,
     ["--sms-daily must be", "--outbound-allow must be"]),
    (["--sms-daily-per-region", "0"], {}, ["--sms-daily-per-region must be"]),
])
def test_all_problems_of_the_configuration_are_reported(tmp_path, words, env, problems):
    answer = run("serve", "--data", tmp_path / "data", *words, env=env)
    assert answer.returncode == 78, answer.stderr
    for problem in problems:
        assert problem in answer.stderr
    assert "sesame" not in answer.stderr
