"""firebase-rest-api, a client library of an application, which knows nothing of second factors."""

import importlib
import sys
import sysconfig
import types


def auth():
    """Returns the library's module of users, unchanged.

    Its package imports Google's libraries for storage and documents, which aren't installed.
    """
    package = types.ModuleType("firebase")
    package.__path__ = [f"{sysconfig.get_paths()['purelib']}/firebase"]
    sys.modules.setdefault("firebase", package)
    return importlib.import_module("firebase.auth")
