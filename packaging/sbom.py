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


def owner(library):
    """Returns the Debian package that a library belongs to; None for none."""
    real = os.path.realpath(library)
    for path in (library, real, real.removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "--search", path], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(": ")[0]
    return None


def entry(name, version, supplier, more):
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name,
        "versionInfo": version, "supplier": supplier, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION", **more}


def debian(package):
    """Returns the entry of an installed Debian package."""
    shown = "${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}"
    name, version, architecture, source, source_version = output(
        "dpkg-query", "--show", "--showformat", shown, package).split("\t")
    locator = f"pkg:deb/debian/{name}@{version}?arch={architecture}&distro=bookworm"
    return entry(name, version, "Organization: Debian", {
        "sourceInfo": f"built from {source} {source_version}",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": locator.replace("+", "%2B")}]})


def main(program, version, architecture):
    packages = sorted({found for library in libraries(program) if (found := owner(library))})
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
        *map(debian, packages)]
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
