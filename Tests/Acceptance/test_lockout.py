"""Lockout after wrong passwords: whom it affects and for how long. SECURITY.md has the numbers."""

from itertools import count

import pytest

from support.pages import Pages
from support.program import Server, execute
from support.rest import Api, create_token, ok

EMAIL, PASSWORD = "ada@example.com", "correct horse battery"
ATTACKER, OWNER = "203.0.113.66", "198.51.100.7"
# Nine wrong passwords are allowed; the tenth one locks.
FREE = 9
numbers = count(1)


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    """A server behind a proxy, so that requests can come from any network."""
    with Server(tmp_path_factory.mktemp("lockout"), "--trusted-proxy", "127.0.0.1") as server:
        owner = Pages(server.url).set_up(server.setup_code)
        owner.create_project("lockout")
        api = Api(server.url, "lockout", owner.api_key("lockout"),
                  create_token(server.data, "lockout", "application"))
        yield server, api


@pytest.fixture(autouse=True)
def no_failed_attempts(target):
    execute(target[0].data, "DELETE FROM throttle")


def pass_by(target, seconds):
    """Simulates time passing for the counters."""
    micros = int(seconds * 1e6)
    execute(target[0].data, f"UPDATE throttle SET blocked_until = blocked_until - {micros}, "
                            f"expires_at = expires_at - {micros}")


def browser(target, network):
    pages = Pages(target[0].url)
    pages.http.headers["X-Forwarded-For"] = network
    return pages


def lock(target, network, email=EMAIL):
    """Guesses until the email is locked on the network."""
    for number in range(FREE + 1):
        answer = browser(target, network).sign_in(email, f"guess {number}")
        assert answer.status_code == 422, f"guess {number}: {answer.status_code}"


def wait_of(answer):
    """Returns the seconds after which a locked browser can try again."""
    assert answer.status_code == 429, answer.status_code
    return int(answer.headers["retry-after"])


def test_an_attacker_locks_only_its_own_network(target):
    lock(target, ATTACKER)
    # The right password is refused too, so that an attacker doesn't learn of a correct guess.
    assert 0 < wait_of(browser(target, ATTACKER).sign_in(EMAIL, PASSWORD)) <= 30
    assert browser(target, OWNER).sign_in(EMAIL, PASSWORD).status_code == 303
    # Other emails aren't locked on the attacker's network.
    assert browser(target, ATTACKER).sign_in("bob@example.com", "wrong").status_code == 422


def test_an_ipv6_network_is_a_64_prefix(target):
    lock(target, "2001:db8:0:1::66")
    wait_of(browser(target, "2001:db8:0:1:ffff::1").sign_in(EMAIL, PASSWORD))
    assert browser(target, "2001:db8:0:2::66").sign_in(EMAIL, PASSWORD).status_code == 303


def test_the_wait_doubles_and_a_sign_in_resets_it(target):
    lock(target, ATTACKER)
    assert wait_of(browser(target, ATTACKER).sign_in(EMAIL, PASSWORD)) <= 30
    pass_by(target, 31)
    assert browser(target, ATTACKER).sign_in(EMAIL, "one more").status_code == 422
    assert 30 < wait_of(browser(target, ATTACKER).sign_in(EMAIL, PASSWORD)) <= 60
    pass_by(target, 61)
    assert browser(target, ATTACKER).sign_in(EMAIL, PASSWORD).status_code == 303
    # The right password has reset the network's counter.
    lock(target, ATTACKER)


def test_a_known_browser_is_not_locked_out(target):
    known = browser(target, ATTACKER)
    assert known.sign_in(EMAIL, PASSWORD).status_code == 303
    known.post("/sign-out", {}, page="/projects")
    device = [name for name in known.http.cookies if "countersign-device-" in name]
    assert len(device) == 1
    lock(target, ATTACKER)
    wait_of(browser(target, ATTACKER).sign_in(EMAIL, PASSWORD))
    assert known.sign_in(EMAIL, PASSWORD).status_code == 303
    # The cookie doesn't replace the password, and has its own counter.
    known.post("/sign-out", {}, page="/projects")
    for number in range(FREE + 1):
        assert known.sign_in(EMAIL, f"guess {number}").status_code == 422
    assert wait_of(known.sign_in(EMAIL, PASSWORD)) <= 30
    # The cookie belongs to one administrator; without it, the browser is unknown.
    known.http.cookies.clear()
    wait_of(known.sign_in(EMAIL, PASSWORD))


def user(target):
    email = f"user-{next(numbers)}@example.com"
    ok(target[1].sign_up(email, "bright-swordfish") and target[1].sign_in(email))
    return email


def sign_in(target, email, password, address=None, token=True):
    """Signs a user at an address in, as a backend does."""
    api = target[1]
    headers = {"Authorization": f"Bearer {api.token}"} if token else {}
    if address:
        headers["Countersign-Forwarded-For"] = address
    return api.client(
        ":signInWithPassword", {"email": email, "password": password}, headers=headers)


def is_locked(answer):
    message = answer.json().get("error", {}).get("message", "")
    return answer.status_code == 400 and message.startswith("TOO_MANY_ATTEMPTS_TRY_LATER")


def test_a_back_end_can_name_its_users_networks(target):
    email = user(target)
    for number in range(FREE + 1):
        assert not is_locked(sign_in(target, email, f"guess {number}", ATTACKER))
    assert is_locked(sign_in(target, email, "bright-swordfish", ATTACKER))
    assert sign_in(target, email, "bright-swordfish", OWNER).status_code == 200
    assert sign_in(target, email, "bright-swordfish").status_code == 200


def test_a_network_is_ignored_without_a_token(target):
    email = user(target)
    for number in range(FREE + 1):
        answer = sign_in(target, email, f"guess {number}", f"203.0.113.{number}", token=False)
        assert not is_locked(answer)
    assert is_locked(sign_in(target, email, "bright-swordfish", OWNER, token=False))
    # The attempts were counted for the address of the calls.
    assert sign_in(target, email, "bright-swordfish", OWNER).status_code == 200


def test_an_invalid_address_is_refused(target):
    email = user(target)
    for address in ["localhost", "203.0.113.7:80", "203.0.113.7, 203.0.113.8"]:
        answer = sign_in(target, email, "bright-swordfish", address)
        assert answer.status_code == 400 and "Countersign-Forwarded-For" in answer.text, address


def test_guesses_from_all_networks_together_are_limited(target):
    """A hundred guesses from ten networks lock the email, except for a known browser."""
    known = browser(target, OWNER)
    assert known.sign_in(EMAIL, PASSWORD).status_code == 303
    known.post("/sign-out", {}, page="/projects")
    execute(target[0].data, "DELETE FROM throttle")
    for network in range(10):
        lock(target, f"192.0.2.{network}")
    assert wait_of(browser(target, "198.51.100.99").sign_in(EMAIL, PASSWORD)) <= 30
    assert known.sign_in(EMAIL, PASSWORD).status_code == 303
    # Five minutes after the last guess, the lock ends.
    pass_by(target, 5 * 60)
    assert browser(target, "198.51.100.99").sign_in(EMAIL, PASSWORD).status_code == 303
