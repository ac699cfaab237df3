"""A double of Google: the token endpoint, the Identity Toolkit admin API, and the check of permissions, over TLS.

It checks assertions as Google does, and answers with recorded bodies. Tests set its state, in plain Python.
"""

import base64
import contextlib
import json
import re
import secrets
import ssl
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from .certificates import make_authority
from .google_answers import (
    NUMBER, PROJECT, answer, as_shown, mask_of, masked, recorded, unknown_parameter, v1, v2)

TOKENS, TOOLKIT, MANAGER = (
    f"{name}.googleapis.com" for name in ("oauth2", "identitytoolkit", "cloudresourcemanager"))
TOKEN_URL = f"https://{TOKENS}/token"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
SCOPE = "https://www.googleapis.com/auth/cloud-platform"

READ = ["firebaseauth.configs.get", "firebaseauth.users.get", "identitytoolkit.tenants.get",
        "identitytoolkit.tenants.list"]
SUPPORT = [*READ, "firebaseauth.users.update", "identitytoolkit.tenants.update"]
POLICY = [*SUPPORT, "firebaseauth.configs.update"]

POOL = r"/v1/projects/([^/:]+)(?:/tenants/([^/:]+))?/accounts"
# Host, method, path, the name of the call, and the permission that it needs.
CALLS = [
    (TOKENS, "POST", r"/token()()", "token", None),
    (TOOLKIT, "GET", r"/(?:admin/)?v2/projects/([^/:]+)/config()", "config", "firebaseauth.configs.get"),
    (TOOLKIT, "PATCH", r"/(?:admin/)?v2/projects/([^/:]+)/config()", "patch", "firebaseauth.configs.update"),
    (TOOLKIT, "PATCH", r"/(?:admin/)?v2/projects/([^/:]+)/tenants/([^/:]+)", "patch",
     "identitytoolkit.tenants.update"),
    (TOOLKIT, "GET", r"/(?:admin/)?v2/projects/([^/:]+)/tenants()", "tenants", "identitytoolkit.tenants.list"),
    (TOOLKIT, "GET", r"/(?:admin/)?v2/projects/([^/:]+)/tenants/([^/:]+)", "tenant",
     "identitytoolkit.tenants.get"),
    (TOOLKIT, "POST", r"/(?:admin/)?v2/projects/([^/:]+)/tenants/([^/:]+):testIamPermissions",
     "testIamPermissions", None),
    (TOOLKIT, "GET", POOL + ":batchGet", "batchGet", "firebaseauth.users.get"),
    (TOOLKIT, "POST", POOL + ":lookup", "lookup", "firebaseauth.users.get"),
    (TOOLKIT, "POST", POOL + ":query", "query", "firebaseauth.users.get"),
    (TOOLKIT, "POST", POOL + ":update", "update", "firebaseauth.users.update"),
    (MANAGER, "POST", r"/v[13]/projects/([^/:]+)()?:testIamPermissions", "testIamPermissions", None),
]


@dataclass
class ServiceAccount:
    email: str
    permissions: list
    keys: dict = field(default_factory=dict)
    disabled: bool = False


@dataclass
class Tenant:
    """`settings` are members of the resource, among them `mfaConfig`; `state` is as at Google."""

    name: str
    settings: dict = field(default_factory=dict)
    users: dict = field(default_factory=dict)
    disabled: bool = False
    deleted: bool = False


@dataclass
class Request:
    host: str
    method: str
    path: str
    query: dict
    fields: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body or b"{}")


class Google:
    """One project with its users and tenants, and the service accounts that may read it.

    `requests` are all that came, `names` the names of servers that clients asked for in TLS. `ahead` is how far
    its clock is ahead of this machine's, in seconds. `largest_page` is the size of a page at most, whatever is asked
    for. `before` and `after` have functions by the name of a call: the first gets the request and can change what's
    answered to it; the second gets the answer's body and the query, and returns the body. `changes` are the bodies
    of the writes that were carried out; `keeps_apps` is whether an authenticator app can stay while another factor
    goes, and `lose_answers` whether the connection is closed instead of an answer to a write.
    """

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        make_authority(folder, TOKENS, TOOLKIT, MANAGER)
        self.authority = folder / "authority.pem"
        self.accounts, self._lock = {}, threading.RLock()
        self.reset()
        self._server = self._make_server(folder)
        self.port = self._server.server_port

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    @property
    def flags(self):
        """The options that lead a program here."""
        return ["--google-address", f"127.0.0.1:{self.port}", "--outbound-ca", str(self.authority)]

    def now(self):
        return time.time() + self.ahead

    # What tests set.

    def reset(self):
        """Forgets everything except the service accounts and their keys."""
        self.requests, self.names, self.changes = [], set(), []
        self.users, self.tenants, self.mfa = {}, {}, None
        self.subtype, self.ahead = "IDENTITY_PLATFORM", 0
        self.is_set_up, self.has_tenants, self.knows_fields = True, True, True
        self.token_seconds, self.largest_page, self.before, self.after = 3599, 1000, {}, {}
        self.tokens, self._failures, self._page_tokens = {}, {}, set()
        self.keeps_apps, self.lose_answers = True, False

    def add_account(self, name="mirror", permissions=READ):
        email = f"{name}@{PROJECT}.iam.gserviceaccount.com"
        self.accounts[email] = ServiceAccount(email, list(permissions))
        return self.accounts[email]

    def add_key(self, account, **changes):
        """Creates a key of a service account; returns the text of its file, with members changed."""
        key, name = rsa.generate_private_key(65537, 2048), secrets.token_hex(20)
        account.keys[name] = key.public_key()
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        certificates = "https://www.googleapis.com"
        return json.dumps({
            "type": "service_account", "project_id": PROJECT, "private_key_id": name, "private_key": pem.decode(),
            "client_email": account.email, "client_id": "100000000000000000001",
            "auth_uri": "https://accounts.google.com/o/oauth2/auth", "token_uri": TOKEN_URL,
            "auth_provider_x509_cert_url": f"{certificates}/oauth2/v1/certs",
            "client_x509_cert_url": f"{certificates}/robot/v1/metadata/x509/{account.email}",
            "universe_domain": "googleapis.com", **changes}, indent=2)

    def add_users(self, *users, tenant=None):
        pool = self.tenants[tenant].users if tenant else self.users
        pool.update({user["localId"]: user for user in users})

    def add_tenant(self, tenant, mfa=None, **settings):
        """Adds a tenant with an ID; its display name is the ID without the suffix."""
        name = tenant.rsplit("-", 1)[0]
        self.tenants[tenant] = Tenant(name, {**settings, **({"mfaConfig": mfa} if mfa else {})})
        return self.tenants[tenant]

    def fail(self, call, error, times=None, **headers):
        """Answers a call with an error, by the ID of a recording or a quotation, or a status and a body; `times`
        is how often, always without it. A header field `retry_after` is `Retry-After`."""
        fields = {name.replace("_", "-"): str(value) for name, value in headers.items()}
        self._failures[call] = [answer(error), fields, times]

    def mend(self):
        self._failures.clear()

    def revoke_tokens(self):
        self.tokens.clear()

    def calls(self, name):
        """Returns the requests of a call."""
        return [request for request in self.requests if route(request)[0] == name]

    # What it answers.

    def respond(self, request):
        """Returns the status, the body, and header fields."""
        with self._lock:
            self.requests.append(request)
            call, project, tenant, permission = route(request)
            if call in self.before:
                self.before[call](request)
            if call in self._failures:
                (status, body), fields, times = self._failures[call]
                if times != 0:
                    self._failures[call][2] = times and times - 1
                    return status, body, fields
            if call is None:
                return 404, "<!DOCTYPE html><title>Error 404 (Not Found)</title>", {}
            if call == "token":
                return *self._token(dict(parse_qsl(request.body.decode()))), {}
            status, body = self._allowed(request, call, project, tenant, permission)
            if status == 200:
                body = masked(body, mask_of(request.query.get("fields", "")))
                body = self.after.get(call, lambda body, _: body)(body, request.query)
            return status, body, {}

    def _token(self, form):
        try:
            assertion = form["assertion"]
            header = jwt.get_unverified_header(assertion)
            claims = jwt.decode(assertion, options={"verify_signature": False})
        except (KeyError, jwt.InvalidTokenError):
            return recorded("token/invalid-signature")
        if form.get("grant_type") != GRANT or header.get("alg") != "RS256" or header.get("typ") != "JWT":
            return recorded("token/invalid-signature")
        if "@" not in claims.get("iss", ""):
            return recorded("token/not-an-email")
        account = self.accounts.get(claims["iss"])
        if account is None or account.disabled:
            return recorded("token/account-not-found")
        try:
            jwt.decode(assertion, account.keys[header["kid"]], algorithms=["RS256"], options={
                name: False for name in ("verify_aud", "verify_exp", "verify_iat")})
        except (KeyError, jwt.InvalidTokenError):
            return recorded("token/invalid-signature")
        now, begin, end = self.now(), claims.get("iat", 0), claims.get("exp", 0)
        if not begin <= now < end or not 0 < end - begin <= 3600:
            return recorded("token/clock-new-text")
        if claims.get("aud") != TOKEN_URL or SCOPE not in claims.get("scope", "").split():
            return recorded("token/scope")
        if "sub" in claims:
            return answer("token/unauthorized-client")
        token = f"ya29.{secrets.token_urlsafe(48)}"
        self.tokens[token] = account, now + self.token_seconds
        return 200, {"access_token": token, "expires_in": self.token_seconds, "token_type": "Bearer"}

    def _allowed(self, request, call, project, tenant, permission):
        kind, _, token = request.fields.get("authorization", "").partition(" ")
        account, end = self.tokens.get(token, (None, 0))
        if not token:
            return answer("error/no-credential")
        if kind != "Bearer" or account is None or end <= self.now():
            return recorded("error/invalid-credential")
        is_v1 = request.path.startswith("/v1/") and request.host == TOOLKIT
        if permission == "firebaseauth.users.update" and tenant:
            permission = "identitytoolkit.tenants.update"
        if project not in (PROJECT, NUMBER) or permission and permission not in account.permissions:
            return recorded("error/insufficient-permission-v1" if is_v1 else "error/permission-denied")
        if call == "testIamPermissions":
            asked = request.json["permissions"]
            granted = [one for one in asked if one in account.permissions]
            return 200, {"permissions": granted} if granted else {}
        if not self.is_set_up:
            return recorded("error/not-initialized-v1" if is_v1 else "error/not-initialized-v2")
        if "fields" in request.query and not self.knows_fields:
            return unknown_parameter("fields")
        if call in ("tenants", "tenant") and not self.has_tenants:
            return recorded("tenant/switch-off/get-unknown-off")
        users = self.users
        if tenant:
            found = self.tenants.get(tenant)
            if call == "tenant" and (found is None or found.deleted):
                return v2(404, "NOT_FOUND", "TENANT_NOT_FOUND")
            if call not in ("tenant", "patch") and (found is None or found.deleted or found.disabled):
                return v1("INVALID_TENANT_ID" if found is None else
                          "TENANT_DELETED" if found.deleted else "TENANT_DISABLED")
            users = found.users
        return getattr(self, f"_{call}")(account, request, tenant, users)

    def _config(self, account, request, tenant, users):
        _, body = recorded("config/config/read/admin-get")
        body["subtype"] = self.subtype
        if "firebaseauth.configs.getHashConfig" not in account.permissions:
            del body["signIn"]["hashConfig"]
        if self.mfa is not None:
            body["mfa"] = as_shown(self.mfa)
        if self.has_tenants:
            body["multiTenant"] = {"allowTenants": True}
        return 200, body

    def _shown(self, tenant):
        found = self.tenants[tenant]
        settings = dict(found.settings)
        if "mfaConfig" in settings:
            settings["mfaConfig"] = as_shown(settings["mfaConfig"])
        return {"name": f"projects/{NUMBER}/tenants/{tenant}", "displayName": found.name, "inheritance": {},
                **settings, **({"disableAuth": True} if found.disabled else {})}

    def _tenant(self, account, request, tenant, users):
        return 200, self._shown(tenant)

    def _tenants(self, account, request, tenant, users):
        size = int(request.query.get("pageSize", 0))
        size = min(size if size > 0 else 20, self.largest_page)
        after = ""
        if token := request.query.get("pageToken"):
            if token not in self._page_tokens:
                return 200, {}
            after = base64.urlsafe_b64decode(token).decode()
        left = in_order(id for id, one in self.tenants.items() if not one.deleted and id.encode() > after.encode())
        body = {"tenants": [self._shown(id) for id in left[:size]]} if left else {}
        if len(left) > size:
            body["nextPageToken"] = base64.urlsafe_b64encode(left[size - 1].encode()).decode()
            self._page_tokens.add(body["nextPageToken"])
        return 200, body

    def _user(self, account, user, tenant):
        shown = {**user, **({"tenantId": tenant} if tenant else {})}
        if "passwordHash" in shown and "firebaseauth.configs.getHashConfig" not in account.permissions:
            shown.pop("salt", None)
            shown["passwordHash"] = "UkVEQUNURUQ="
        return shown

    def _batchGet(self, account, request, tenant, users):
        size = min(int(request.query.get("maxResults", 20)), self.largest_page)
        body = {"kind": "identitytoolkit#DownloadAccountResponse"}
        token = request.query.get("nextPageToken", "")
        if size <= 0 or token and token not in users and token not in self._page_tokens:
            return 200, body
        left = in_order(uid for uid in users if uid.encode() > token.encode())
        if left:
            body["users"] = [self._user(account, users[uid], tenant) for uid in left[:size]]
        if len(left) > size:
            body["nextPageToken"] = left[size - 1]
            self._page_tokens.add(left[size - 1])
        return 200, body

    def _lookup(self, account, request, tenant, users):
        asked = request.json
        uids = [asked["localId"]] if isinstance(asked.get("localId"), str) else asked.get("localId", [])
        found = [users[uid] for uid in uids if uid in users]
        for member in ("email", "phoneNumber"):
            found += [user for user in users.values() if user.get(member) in asked.get(member, [])]
        body = {"kind": "identitytoolkit#GetAccountInfoResponse"}
        if found:
            body["users"] = [self._user(account, user, tenant) for user in found]
        return 200, body

    def _query(self, account, request, tenant, users):
        asked = request.json
        assert not asked.get("expression"), "an empty expression finds everyone"
        if asked.get("returnUserInfo") is False:
            return 200, {"recordsCount": str(len(users))}
        first, size = int(asked.get("offset", 0)), int(asked.get("limit", 500))
        shown = [self._user(account, users[uid], tenant) for uid in in_order(users)[first:first + size]]
        return 200, {"recordsCount": str(len(shown)), **({"userInfo": shown} if shown else {})}

    def _update(self, account, request, tenant, users):
        asked = request.json
        if asked.get("localId") not in users:
            return v1("USER_NOT_FOUND")
        user = users[asked["localId"]]
        if "mfa" in asked:
            known = {factor["mfaEnrollmentId"]: factor for factor in user.get("mfaInfo", [])}
            kept = [factor["mfaEnrollmentId"] for factor in asked["mfa"].get("enrollments", [])]
            if any("totpInfo" in known.get(id, {"totpInfo": {}}) for id in kept) and not self.keeps_apps:
                return v1("UNSUPPORTED_SECOND_FACTOR : attempting to add a new TOTP enrollment")
            user["mfaInfo"] = [known[id] for id in kept]
        if "disableUser" in asked:
            user["disabled"] = asked["disableUser"]
        if "validSince" in asked:
            user["validSince"] = asked["validSince"]
        self.changes.append(asked)
        return 200, {"kind": "identitytoolkit#SetAccountInfoResponse", "localId": asked["localId"]}

    def _patch(self, account, request, tenant, users):
        name = "mfaConfig" if tenant else "mfa"
        old = self.tenants[tenant].settings.get(name) if tenant else self.mfa
        new, asked = dict(old or {}), request.json.get(name, {})
        for path in request.query["updateMask"].split(","):
            member = path.removeprefix(f"{name}.")
            new.pop(member, None)
            if member in asked:
                new[member] = asked[member]
        if tenant:
            self.tenants[tenant].settings[name] = new
        else:
            self.mfa = new
        self.changes.append(request.json)
        shown = self._tenant if tenant else self._config
        return shown(account, request, tenant, users)

    # How it's served.

    def _make_server(self, folder):
        google = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                url = urlsplit(self.path)
                query = {name: values[-1] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, body, fields = google.respond(Request(
                    self.headers.get("Host", ""), self.command, url.path, query,
                    {name.lower(): value for name, value in self.headers.items()}, body))
                if google.lose_answers and (self.command == "PATCH" or url.path.endswith(":update")):
                    self.close_connection = True
                    self.connection.close()
                    return
                is_text = isinstance(body, str)
                content = (body if is_text else json.dumps(body, indent=2)).encode()
                self.send_response(status)
                kind = "text/html" if is_text else "application/json"
                for name, value in {"Content-Type": f"{kind}; charset=UTF-8", **fields}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer

            def date_time_string(self, timestamp=None):
                return super().date_time_string(google.now())

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request, address):
                # A client that doesn't trust the certificate closes the connection.
                with contextlib.suppress(OSError):
                    raise

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
        context.sni_callback = lambda connection, name, _: google.names.add(name)
        server = Server(("127.0.0.1", 0), Handler)
        # The handshake is the thread's that answers.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        return server


def route(request):
    """Returns the call of a request, its project and tenant, and the permission that it needs."""
    for host, method, path, call, permission in CALLS:
        found = re.fullmatch(path, request.path)
        if found and (host, method) == (request.host, request.method):
            return call, found[1], found[2] or None, permission
    return None, None, None, None


def in_order(texts):
    """Orders texts as Google does."""
    return sorted(texts, key=str.encode)
