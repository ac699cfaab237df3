"""Sign-in with a password, and lookup with its ID token, separately and at the same time."""

import json
import os
import statistics
import urllib.request

import argon2
from server import started, wrk

PERSON = {
    "email": "user@example.com", "password": "correct horse battery staple",
    "returnSecureToken": True,
}


def post(folder, name, body):
    """Writes a script that makes wrk send the same body repeatedly."""
    script = folder / f"{name}.lua"
    script.write_text(
        "wrk.method='POST'\nwrk.headers['Content-Type']='application/json'\n"
        f"wrk.body='{json.dumps(body)}'\n")
    return script


def measure(bench):
    data, facts = bench.own.data("sign-ins")
    with bench.own.serve(data) as server:
        sign_in = f"{server.url}/v1/accounts:signInWithPassword?key={facts['apiKey']}"
        lookup = f"{server.url}/v1/accounts:lookup?key={facts['apiKey']}"
        request = urllib.request.Request(
            sign_in, json.dumps(PERSON).encode(), {"Content-Type": "application/json"})
        token = json.loads(urllib.request.urlopen(request).read())["idToken"]
        passwords = post(bench.folder, "password", PERSON)
        tokens = post(bench.folder, "lookup", {"idToken": token})
        # Each core hashes one password while the next request arrives.
        at_once = 2 * os.cpu_count()

        file, alone, hashes, library, during = [], [], [], [], []
        for run in range(bench.runs):
            for step in bench.by_turns(
                [
                    lambda: file.append(wrk(f"{server.url}/static/bench.bin", 16, bench.seconds)),
                    lambda: alone.append(wrk(lookup, 16, bench.seconds, script=tokens)),
                ], run):
                step()
            for step in bench.by_turns(
                [
                    lambda: library.append(argon2.hashes(bench.seconds)),
                    lambda: hashes.append(wrk(sign_in, at_once, bench.seconds, script=passwords)),
                ], run):
                step()
            # The sign-ins begin before the lookups and end after them.
            load = started(sign_in, at_once, bench.seconds + 2, script=passwords)
            during.append(wrk(lookup, 16, bench.seconds, script=tokens))
            load.wait()
        file_rate = bench.median(file)["rate"]
        rate = bench.row("lookup by idToken", alone, "file", 0.15, file_rate)
        bench.row(
            f"signInWithPassword, {at_once} connections", hashes, "argon2 library, all cores", 0.8,
            statistics.median(library))
        bench.row("lookup during password sign-ins", during, "lookup alone", 0.3, rate)
        bench.notes.append(
            f"argon2 library, all cores: {statistics.median(library):.1f} hashes per second")
