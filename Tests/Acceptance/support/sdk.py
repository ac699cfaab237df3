"""firebase-admin, Google's SDK for Python, pointed at an emulator the documented way."""

import os
import urllib.parse

import firebase_admin
import httpx
from firebase_admin import auth, credentials, tenant_mgt
from google.oauth2.credentials import Credentials

from .rest import Api

VARIABLE = "FIREBASE_AUTH_EMULATOR_HOST"
PROJECT = "demo-project"


class Bearer(credentials.Base):
    """A credential that replaces a service account: a token that doesn't expire."""

    def __init__(self, token):
        self.token = token

    def get_credential(self):
        return Credentials(self.token)


class Sdk:
    """An SDK app, and the client calls of an application."""

    def __init__(self, server):
        self.server = server
        self.app = firebase_admin.initialize_app(
            Bearer("owner"), {"projectId": PROJECT}, name=f"app-{id(self)}")
        self.api = Api(server.url, PROJECT, "any-key", "owner")

    def tenants(self):
        """Returns the SDK's tenant client, with its URL set to the emulator's: the SDK ignores the
        variable here."""
        service = tenant_mgt._get_tenant_mgt_service(self.app)
        service.client._base_url = f"{self.server.url}/identitytoolkit.googleapis.com/v2/projects/{PROJECT}"
        return tenant_mgt

    def in_tenant(self, id):
        """Returns the application's client calls, to a tenant."""
        return Api(self.server.url, PROJECT, "any-key", "owner", id)

    def __enter__(self):
        os.environ[VARIABLE] = self.server.url.removeprefix("http://")
        self.clear()
        return self

    def __exit__(self, *_):
        del os.environ[VARIABLE]
        firebase_admin.delete_app(self.app)

    def clear(self):
        answer = httpx.delete(f"{self.server.url}/emulator/v1/projects/{PROJECT}/accounts")
        assert answer.json() == {}


def query_of(link):
    """Returns the query parameters of a link, each of which occurs once."""
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query, strict_parsing=True))


__all__ = ["Sdk", "auth", "query_of"]
