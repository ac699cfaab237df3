"""Prints a bill of materials (SPDX 2.3, JSON): the program, the Swift runtime, and the Debian packages
of the libraries that the program loads.

Usage: sbom.py PROGRAM VERSION ARCHITECTURE
"""

import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def libraries(program):
    """Returns the paths of the libraries that a program loads."""
    return re.findall(r"(/\S+) \(0x", output("ldd", program))


def owners(libraries):
    """Returns the Debian packages that libraries belong to, without those that belong to none."""
    places = {}
    for library in libraries:
        real = os.path.realpath(library)
        places[library] = [library, real, real.removeprefix("/usr")]
    # It reads the files of all packages, however many paths it looks for; it fails if it misses one.
    found = subprocess.run(
        ["dpkg-query", "--search", *(path for paths in places.values() for path in paths)],
        capture_output=True, text=True).stdout
    packages = {}
    for line in found.splitlines():
        package, _, path = line.rpartition(": ")
        packages.setdefault(path, package)
    return sorted({packages[path] for paths in places.values()
                   for path in [path for path in paths if path in packages][:1]})


def entry(name, version, supplier, more):
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name,
        "versionInfo": version, "supplier": supplier, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION", **more}


def debian(packages):
    """Returns the entries of installed Debian packages."""
    assert packages, "dpkg-query knows none of the libraries"
    shown = "${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\n"
    for line in output("dpkg-query", "--show", "--showformat", shown, *packages).splitlines():
        name, version, architecture, source, source_version = line.split("\t")
        locator = f"pkg:deb/debian/{name}@{version}?arch={architecture}&distro=bookworm"
        yield entry(name, version, "Organization: Debian", {
            "sourceInfo": f"built from {source} {source_version}",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": locator.replace("+", "%2B")}]})


def main(program, version, architecture):
    swift = re.search(r"Swift version (\S+)", output("swift", "--version")).group(1)
    digest = hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()
    product = entry("countersign", version, "Organization: Countersign", {
        "licenseDeclared": "Apache-2.0", "primaryPackagePurpose": "APPLICATION",
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
        "sourceInfo": f"built for {architecture}"})
    parts = [
        entry("swift-runtime", swift, "Organization: Swift project", {
            "licenseDeclared": "Apache-2.0 WITH Swift-exception",
            "comment": "the standard library, libdispatch, Foundation, and ICU of the toolchain",
            "externalRefs": [{
                "referenceCategory": "SECURITY", "referenceType": "cpe23Type",
                "referenceLocator": f"cpe:2.3:a:apple:swift:{swift}:*:*:*:*:linux:*:*"}]}),
        *debian(owners(libraries(program)))]
    created = datetime.datetime.fromtimestamp(
        int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"countersign-{version}",
        "documentNamespace": f"https://countersign.invalid/sbom/{version}/{digest}",
        "creationInfo": {"created": f"{created:%Y-%m-%dT%H:%M:%SZ}",
                         "creators": ["Tool: script/package"]},
        "packages": [product, *parts],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
             "relatedSpdxElement": product["SPDXID"]},
            *({"spdxElementId": product["SPDXID"], "relationshipType": "DEPENDS_ON",
               "relatedSpdxElement": part["SPDXID"]} for part in parts)]}, indent=1))


main(*sys.argv[1:])
