"""The settings of a glewlwyd: its file, and what its administration API gets."""

import json

CLIENT = "countersign"
SCOPES = ("openid", "profile", "email", "groups")
# Requires TOTP at the provider; only then `amr` has `otp`.
STRONG = "strong"

CONFIGURATION = """\
port = {port}
bind_address = "127.0.0.1"
external_url = "{url}"
login_url = "login.html"
api_prefix = "api"
static_files_path = "{folder}/pages/"
allow_origin = "{url}"
log_mode = "console"
log_level = "WARNING"
cookie_secure = 0
cookie_same_site = "lax"
session_key = "GLEWLWYD2_SESSION_ID"
admin_session_authentication = "cookie"
allow_multiple_user_per_session = true
hash_algorithm = "SHA512"
user_module_path = "/usr/lib/glewlwyd/user"
client_module_path = "/usr/lib/glewlwyd/client"
user_auth_scheme_module_path = "/usr/lib/glewlwyd/scheme"
plugin_module_path = "/usr/lib/glewlwyd/plugin"
database = {{ type = "sqlite3"; path = "{folder}/glewlwyd.sqlite"; }};
static_files_mime_types = ({types});
"""

TYPES = {
    ".html": "text/html", ".css": "text/css", ".js": "application/javascript",
    ".json": "application/json", ".woff2": "font/woff2", ".png": "image/png",
    ".ico": "image/x-icon"}


def configuration(port, url, folder):
    types = ", ".join(f'{{extension = "{extension}"; mime_type = "{type}"; compress = 0}}'
                      for extension, type in TYPES.items())
    return CONFIGURATION.format(port=port, url=url, folder=folder, types=types)


def totp_scheme():
    return {"module": "otp", "name": "totp", "display_name": "TOTP", "expiration": 600,
            "max_use": 0, "allow_user_register": True, "parameters": {
                "issuer": "glewlwyd", "secret-minimum-size": 16, "otp-length": 6,
                "hotp-allow": False, "totp-allow": True, "totp-window": 1,
                "totp-start-offset": 0}}


def scopes():
    """All but `openid`, which the tables come with."""
    named = [{"name": name, "display_name": name, "description": name, "password_max_age": 0,
              "password_required": name in ("profile", STRONG), "scheme": {}}
             for name in (*SCOPES[1:], STRONG)]
    named[-1] |= {"scheme_required": {"2": 1}, "scheme": {
        "2": [{"scheme_type": "otp", "scheme_name": "totp"}]}}
    return named


def plugin(issuer, keys):
    return {"module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "parameters": {
        "iss": issuer, "jwks-private": json.dumps({"keys": keys}),
        "default-kid": keys[0]["kid"], "jwks-show": True,
        "access-token-duration": 3600, "refresh-token-duration": 3600, "code-duration": 600,
        "refresh-token-rolling": False, "allow-non-oidc": False,
        "auth-type-code-enabled": True, "auth-type-code-revoke-replayed": True,
        "auth-type-token-enabled": False, "auth-type-id-token-enabled": True,
        "auth-type-none-enabled": False, "auth-type-password-enabled": False,
        "auth-type-client-enabled": False, "auth-type-device-enabled": False,
        "auth-type-refresh-enabled": True, "subject-type": "public",
        "allowed-scope": [*SCOPES, STRONG], "scope": [],
        "name-claim": "on-demand", "name-claim-scope": ["profile"],
        "email-claim": "on-demand", "email-claim-scope": ["email"],
        "scope-claim": "no", "scope-claim-scope": [],
        "claims": [{"name": "groups", "user-property": "groups", "type": "string",
                    "mandatory": False, "on-demand": True, "scope": ["groups"]}],
        "pkce-allowed": True, "pkce-method-plain-allowed": False, "pkce-mandatory": True,
        "introspection-revocation-allowed": False, "register-client-allowed": False,
        "session-management-allowed": True, "session-cookie-name": "GLEWLWYD2_OIDC_SID",
        "session-cookie-expiration": 2419200,
        "front-channel-logout-allowed": False, "back-channel-logout-allowed": False}}


def client(secret, server):
    return {"client_id": CLIENT, "name": "Countersign", "enabled": True, "confidential": True,
            "client_secret": secret, "scope": [],
            "token_endpoint_auth_method": ["client_secret_basic"], "authorization_type": ["code"],
            "redirect_uri": [f"{server}/sign-in/provider/callback"]}
