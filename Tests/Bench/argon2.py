"""The Argon2 library by itself: the server's password hashes, on all cores."""

import ctypes
import os
import threading
import time

# The parameters in Sources/Crypto/PasswordHash.swift.
MEMORY, PASSES, LANES, SALT, LENGTH = 19_456, 2, 1, 16, 32


def hashes(seconds):
    """Returns hashes per second, with a thread per core; the library releases Python's lock."""
    library = ctypes.CDLL("libargon2.so.1")
    counts = [0] * os.cpu_count()
    password, end = b"correct horse battery staple", time.monotonic() + seconds

    def work(number):
        salt, hash = os.urandom(SALT), ctypes.create_string_buffer(LENGTH)
        while time.monotonic() < end:
            result = library.argon2id_hash_raw(
                PASSES, MEMORY, LANES, password, ctypes.c_size_t(len(password)), salt,
                ctypes.c_size_t(SALT), hash, ctypes.c_size_t(LENGTH))
            assert result == 0, f"Argon2 returned {result}"
            counts[number] += 1

    began = time.monotonic()
    threads = [threading.Thread(target=work, args=(n,)) for n in range(len(counts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.monotonic() - began)
