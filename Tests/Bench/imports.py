"""Imports of users, against inserts of the same rows by a C program."""

import base64
import http.client
import json
import os
import pathlib
import random
import subprocess
import threading
import time
import urllib.parse

from server import prepare

HERE = pathlib.Path(__file__).parent
FIRST = "Ada Bert Carla Dmitri Ella Farid Grace Hana Ivan Jorge Kemal Lena Mirai Nadia".split()
LAST = "Abel Brandt Castro Dahl Evans Fischer Garcia Huang Ito Jansen Kumar Lopez Meyer".split()
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
# The maximum number of users per request.
PART = 1000


def users(count):
    """Yields users in the format of the Firebase CLI, the same ones each time."""
    draw = random.Random(7)
    for number in range(count):
        first, last = draw.choice(FIRST), draw.choice(LAST)
        uid = "".join(draw.choices(ALPHABET, k=28))
        yield {
            "localId": uid, "email": f"{first}.{last}{number}@example.com".lower(),
            "emailVerified": number % 3 != 0,
            "passwordHash": base64.b64encode(draw.randbytes(32)).decode(),
            "salt": base64.b64encode(draw.randbytes(12)).decode(),
            "displayName": f"{first} {last}", "photoUrl": f"https://img.example.com/{uid}.jpg",
            "lastSignedInAt": str(1_700_000_000_000 + number * 1000),
            "createdAt": str(1_600_000_000_000 + number * 1000), "providerUserInfo": [],
        }


def write(path, count):
    with open(path, "w") as file:
        file.write('{"users": [\n')
        for number, user in enumerate(users(count)):
            file.write((",\n" if number else "") + json.dumps(user))
        file.write("\n]}\n")


def build_baseline(folder):
    program = folder / "rows"
    subprocess.run(
        ["cc", "-O2", "-o", program, HERE / "rows.c", "-lsqlite3"], check=True)
    return program


def by_command(build, data, path):
    """Imports a file; returns users per second, and the peak memory in MiB."""
    prepare(build.bin, data, "standalone")
    began = time.monotonic()
    process = subprocess.Popen(
        [build.bin / "countersign", "import", "--data", data, "--project", "bench-project",
         "--hash-algo", "SHA256", "--rounds", "1", path],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    assert status == 0, output
    return int(output.split()[0]) / seconds, usage.ru_maxrss / 1024


def by_library(program, build, source, data):
    """Copies the rows of a filled database into another one; returns users per second."""
    prepare(build.bin, data, "standalone")
    output = subprocess.run(
        [program, source / "countersign.sqlite", data / "countersign.sqlite", str(PART)],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    count, seconds = output.split()
    return int(count) / float(seconds)


def by_call(build, data, count):
    """Sends users with `accounts:batchCreate` over two connections; returns users per second."""
    facts = prepare(build.bin, data, "standalone")
    all_users = list(users(count))
    bodies = [
        json.dumps({"users": all_users[start:start + PART], "hashAlgorithm": "SHA256", "rounds": 1})
        for start in range(0, count, PART)
    ]
    faults = []
    with build.serve(data) as server:
        address = urllib.parse.urlsplit(server.url).netloc

        def send(part):
            connection = http.client.HTTPConnection(address)
            for body in part:
                connection.request(
                    "POST", "/v1/projects/bench-project/accounts:batchCreate", body,
                    {"Authorization": f"Bearer {facts['token']}",
                     "Content-Type": "application/json"})
                answer = connection.getresponse()
                text = answer.read()
                if answer.status != 200 or b'"error"' in text:
                    faults.append(text[:200])

        threads = [threading.Thread(target=send, args=(bodies[half::2],)) for half in (0, 1)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - began
        peak = server.peak()
    assert not faults, faults[0]
    return count / seconds, peak
