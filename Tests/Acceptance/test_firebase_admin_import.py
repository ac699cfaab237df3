"""The real firebase-admin for Python imports users with their password hashes."""

import base64
import hashlib
import hmac

import pytest

from support.rest import ok, refused
from support.sdk import auth

PASSWORD, SALT, KEY = b"correct horse battery", b"some salt", b"the signer's key"


def rounds(name, times):
    """Returns the digest of salt and password, hashed `times` times."""
    digest = SALT + PASSWORD
    for _ in range(times):
        digest = hashlib.new(name, digest).digest()
    return digest


def keyed(name):
    return hmac.new(KEY, PASSWORD + SALT, name).digest()


# A test vector of the Openwall project; bytes after the 72nd are ignored.
BCRYPT = b"$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui"
BCRYPT_PASSWORD = ("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                   "chars after 72 are ignored")

# Firebase's published test vector for its modified scrypt.
FIREBASE_KEY = base64.b64decode(
    "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==")
FIREBASE_HASH = base64.b64decode(
    "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==")
FIREBASE_SALT = base64.b64decode("42xEC+ixf3L2lw==")

Hash = auth.UserImportHash
WAYS = {
    "HMAC_SHA512": (Hash.hmac_sha512(KEY), keyed("sha512")),
    "HMAC_SHA256": (Hash.hmac_sha256(KEY), keyed("sha256")),
    "HMAC_SHA1": (Hash.hmac_sha1(KEY), keyed("sha1")),
    "HMAC_MD5": (Hash.hmac_md5(KEY), keyed("md5")),
    # The only digest that is stored in hexadecimal.
    "MD5": (Hash.md5(0), hashlib.md5(SALT + PASSWORD).hexdigest().encode()),
    "SHA1": (Hash.sha1(1), rounds("sha1", 1)),
    "SHA256": (Hash.sha256(1), rounds("sha256", 1)),
    "SHA256, a thousand times": (Hash.sha256(1000), rounds("sha256", 1000)),
    "SHA512": (Hash.sha512(1), rounds("sha512", 1)),
    "PBKDF_SHA1": (Hash.pbkdf_sha1(1000), hashlib.pbkdf2_hmac("sha1", PASSWORD, SALT, 1000, 64)),
    "PBKDF2_SHA256": (
        Hash.pbkdf2_sha256(100_000), hashlib.pbkdf2_hmac("sha256", PASSWORD, SALT, 100_000, 32)),
    "STANDARD_SCRYPT": (
        Hash.standard_scrypt(1024, 1, 8, 64),
        hashlib.scrypt(PASSWORD, salt=SALT, n=1024, p=1, r=8, dklen=64)),
}


def sign_in_after_import(sdk, algorithm, digest, salt, password):
    record = auth.ImportUserRecord(
        "ada", email="ada@example.com", email_verified=True, password_hash=digest,
        password_salt=salt)
    result = auth.import_users([record], algorithm, sdk.app)
    assert (result.success_count, result.failure_count) == (1, 0), result.errors
    wrong = password[:-1] + "?" if len(password) < 72 else "?" + password[1:]
    refused(sdk.api.sign_in("ada@example.com", wrong), "INVALID_")
    # The second time the hash is ours: the first sign-in replaced it.
    for _ in range(2):
        assert ok(sdk.api.sign_in("ada@example.com", password))["localId"] == "ada"
    refused(sdk.api.sign_in("ada@example.com", wrong), "INVALID_")


@pytest.mark.parametrize("way", WAYS)
def test_a_password_with_an_imported_hash_signs_in(sdk, way):
    algorithm, digest = WAYS[way]
    sign_in_after_import(sdk, algorithm, digest, SALT, PASSWORD.decode())


def test_a_password_with_a_bcrypt_hash_signs_in(sdk):
    sign_in_after_import(sdk, Hash.bcrypt(), BCRYPT, None, BCRYPT_PASSWORD)


def test_a_password_with_a_firebase_scrypt_hash_signs_in(sdk):
    algorithm = Hash.scrypt(FIREBASE_KEY, 8, 14, base64.b64decode("Bw=="))
    sign_in_after_import(sdk, algorithm, FIREBASE_HASH, FIREBASE_SALT, "user1password")


def test_the_other_attributes_of_a_user_are_imported(sdk):
    metadata = auth.UserMetadata(1_500_000_000_000, 1_600_000_000_000)
    record = auth.ImportUserRecord(
        "ada", email="ada@example.com", email_verified=True, display_name="Ada Lovelace",
        phone_number="+15551230001", photo_url="https://example.com/ada.png", disabled=True,
        user_metadata=metadata, custom_claims={"admin": True}, provider_data=[
            auth.UserProvider("google-id", "google.com", "ada@gmail.example", "Ada G.",
                              "https://example.com/g.png")])
    assert auth.import_users([record], app=sdk.app).failure_count == 0
    user = auth.get_user("ada", sdk.app)
    assert (user.email, user.display_name, user.phone_number, user.photo_url) == (
        "ada@example.com", "Ada Lovelace", "+15551230001", "https://example.com/ada.png")
    assert user.disabled and user.email_verified and user.custom_claims == {"admin": True}
    assert user.user_metadata.creation_timestamp == 1_500_000_000_000
    assert user.user_metadata.last_sign_in_timestamp == 1_600_000_000_000
    [google] = [one for one in user.provider_data if one.provider_id == "google.com"]
    assert (google.uid, google.email, google.display_name, google.photo_url) == (
        "google-id", "ada@gmail.example", "Ada G.", "https://example.com/g.png")


def test_many_users_are_imported_and_failures_have_their_index(sdk):
    auth.create_user(uid="there", email="taken@example.com", app=sdk.app)
    records = [auth.ImportUserRecord(f"user-{n:03}", email=f"user-{n}@example.com")
               for n in range(998)]
    records[10:10] = [auth.ImportUserRecord("other", email="taken@example.com")]
    records[500:500] = [auth.ImportUserRecord("there")]
    assert len(records) == 1000
    result = auth.import_users(records, app=sdk.app)
    assert (result.success_count, result.failure_count) == (998, 2)
    assert sorted(error.index for error in result.errors) == [10, 500]
    assert all(error.reason for error in result.errors)
    users = list(auth.list_users(app=sdk.app).iterate_all())
    assert len(users) == 999
