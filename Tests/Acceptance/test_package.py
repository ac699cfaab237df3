"""The Debian package, in a fresh Debian: it installs, starts, upgrades, and purges."""

import base64
import gzip
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import zlib

import httpx
import pytest

from support.program import PROGRAM, ROOT, environment, free_port, private_mounts
from support.waiting import until

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(os.geteuid() != 0 or private_mounts() is None,
                       reason="installing a package requires root"),
]
FOLDER = ROOT / ".build/package"
UNITS = ["countersign.service", "countersign-backup.service", "countersign-backup.timer"]
DATA = "var/lib/countersign"


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Two versions of the package, with the tested program."""
    folder = tmp_path_factory.mktemp("packages")
    # A copy, because other tests use the files of the checkout at the same time.
    copy = folder / "checkout"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    # As in a checkout with umask 077.
    (copy / "Public/countersign.css").chmod(0o600)

    # Builds nothing, but writes what the real one does: its progress and its folder.
    toolchain = folder / "toolchain"
    toolchain.mkdir()
    swift = toolchain / "swift"
    swift.write_text(f"""#!/bin/sh
case "$*" in
  --version) exec {shutil.which("swift")} --version ;;
  *--show-bin-path*) echo {PROGRAM.parent} ;;
  *) echo "Building for production..."; echo "Build complete!" ;;
esac
""")
    swift.chmod(0o755)

    def build(flags, more):
        built = subprocess.run(
            [copy / "script/package", *flags], env=environment(more), capture_output=True, text=True)
        assert built.returncode == 0, built.stdout + built.stderr
        # script/container uses the whole output as the path.
        package = copy / built.stdout.removesuffix("\n")
        for file in [package, package.with_suffix(".debug")]:
            shutil.copy(file, folder)
        return folder / package.name

    # The first one as the documentation says, except that it's compressed for less than a minute.
    built = [build([], {"PATH": f"{toolchain}:{os.environ['PATH']}", "DPKG_DEB_COMPRESSOR_LEVEL": "0"}),
             build(["--fast", "--revision", "2"], {"COUNTERSIGN_PROGRAM": str(PROGRAM)})]
    shutil.rmtree(copy)
    return built


def test_the_symbols_are_in_a_file_of_the_same_build(packages, tmp_path):
    """They'd be half of the program."""
    def read(file, what):
        return subprocess.run(["readelf", "--wide", what, file], check=True, capture_output=True,
                              text=True).stdout

    for package in packages:
        subprocess.run(["dpkg-deb", "--extract", package, tmp_path], check=True)
        program, symbols = tmp_path / "usr/bin/countersign", package.with_suffix(".debug")
        sections = read(program, "--sections")
        assert " .text " in sections and not re.search(r"\.symtab|\.debug_", sections)
        assert " .symtab " in read(symbols, "--sections")
        link = read(program, "--debug-dump=links")
        assert f" {symbols.name}\n" in link and f" {zlib.crc32(symbols.read_bytes()):#x}\n" in link
        build, = re.findall(r"Build ID: (\w+)", read(program, "--notes"))
        assert f"Build ID: {build}\n" in read(symbols, "--notes")
        # Loose for a debug build, which loads the Swift runtime; a release has it inside.
        assert program.stat().st_size <= 80_000_000


def dependencies(package):
    """Returns the packages that a package requires, without versions and alternatives."""
    listed = subprocess.run(["dpkg-deb", "--field", package, "Depends"], check=True,
                            capture_output=True, text=True).stdout
    return sorted({part.split()[0] for part in listed.strip().split(", ")})


class Machine:
    """A fresh Debian in a folder, without a running systemd."""

    def __init__(self, root, packages):
        self.root = root
        included = ",".join(["systemd", *dependencies(packages[0])])
        base = FOLDER / f"debian-{hashlib.sha256(included.encode()).hexdigest()[:12]}.tar"
        if not base.exists():
            FOLDER.mkdir(parents=True, exist_ok=True)
            draft = base.with_suffix(f".{os.getpid()}.tar")
            subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", f"--include={included}",
                            "bookworm", draft], check=True)
            draft.rename(base)
        subprocess.run(["tar", "-C", root, "-xf", base], check=True)
        for package in packages:
            shutil.copy(package, root)
        (root / "run/credentials").mkdir()
        self.server = None

    def words(self, *words, user="root", variables=()):
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child",
                f"--mount-proc={self.root}/proc", "chroot", f"--userspec={user}:{user}",
                str(self.root), "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                "DEBIAN_FRONTEND=noninteractive", *variables, *words]

    def run(self, *words, user="root", check=True):
        result = subprocess.run(
            self.words(*words, user=user), capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert not check or result.returncode == 0, result.stdout + result.stderr
        return result

    def install(self, revision):
        package = next(self.root.glob(f"countersign_*-{revision}_*.deb"))
        return self.run("dpkg", "--install", f"/{package.name}").stdout

    def command(self, unit):
        """Returns what a unit runs."""
        text = (self.root / "usr/lib/systemd/system" / unit).read_text()
        return re.search(r"^ExecStart=(.+)$", text, re.M).group(1).split()

    def start(self):
        """Starts the service as its unit says, and waits until it reports that it's ready."""
        path = self.root / "run/notify"
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notices:
            notices.bind(str(path))
            path.chmod(0o666)
            notices.settimeout(60)
            log = open(self.root / "run/log", "a")
            self.server = subprocess.Popen(
                self.words(*self.command("countersign.service"), user="countersign", variables=[
                    "NOTIFY_SOCKET=/run/notify", "CREDENTIALS_DIRECTORY=/run/credentials"]),
                stdout=log, stderr=log)
            try:
                while (notice := notices.recv(100)).startswith(b"EXTEND_TIMEOUT_USEC="):
                    pass
                assert notice == b"READY=1"
            except TimeoutError:
                raise AssertionError((self.root / "run/log").read_text())

    def stop(self):
        if self.server:
            children = subprocess.run(
                ["ps", "-o", "pid=", "--ppid", str(self.server.pid)], capture_output=True, text=True)
            for child in children.stdout.split():
                os.kill(int(child), signal.SIGTERM)
            self.server.wait(30)
            self.server = None

    def set(self, name, value):
        """Sets an option in the configuration."""
        file = self.root / "etc/countersign/countersign.conf"
        file.write_text(re.sub(rf"^{name} = .*", f"{name} = {value}", file.read_text(), flags=re.M))


@pytest.fixture(scope="module")
def machine(tmp_path_factory, packages):
    machine = Machine(tmp_path_factory.mktemp("debian"), packages)
    machine.port = free_port()
    machine.install(1)
    machine.set("listen", f"127.0.0.1:{machine.port}")
    yield machine
    machine.stop()


def answer(machine, path="/readyz"):
    return httpx.get(f"http://127.0.0.1:{machine.port}{path}")


def test_logs_and_the_audit_file_are_rotated_as_their_readers_need():
    text = (ROOT / "packaging/countersign.logrotate").read_text()
    blocks = dict(re.findall(r"^(/var/log/countersign/\S+) \{\n(.*?)^\}", text, re.M | re.S))
    assert {path: re.search(r"create (.*)", block).group(1) for path, block in blocks.items()} == {
        "/var/log/countersign/*.log": "0600 countersign countersign",
        "/var/log/countersign/*.jsonl": "0640 countersign countersign"}
    assert all("systemctl reload countersign" in block for block in blocks.values())
    # The file that the documents name.
    documents = (ROOT / "docs/audit-file.md").read_text()
    assert set(re.findall(r"/var/log/countersign/(?:\w+)\.\w+", documents)) == {
        "/var/log/countersign/audit.jsonl"}


def test_the_package_contains_what_an_operator_expects(machine):
    listed = machine.run("dpkg", "--listfiles", "countersign").stdout.split()
    for path in ["/usr/bin/countersign", "/usr/share/countersign/Public/countersign.css",
                 "/etc/countersign/countersign.conf", "/usr/share/doc/countersign/copyright",
                 "/usr/share/doc/countersign/docs/operations.md",
                 "/usr/share/doc/countersign/ops/prometheus/alerts.yml"]:
        assert path in listed
    assert (machine.root / "usr/share/countersign/Public/countersign.css").stat().st_mode & 0o777 == 0o644
    files = machine.run("dpkg-query", "--show", "--showformat", "${Conffiles}", "countersign").stdout
    assert {line.split()[0] for line in files.strip().splitlines()} == {
        "/etc/countersign/countersign.conf", "/etc/logrotate.d/countersign"}


def test_the_data_belongs_to_the_service_alone(machine):
    owner = machine.run("stat", "-c", "%U:%G %a", f"/{DATA}", f"/{DATA}/master.key",
                        "/var/backups/countersign").stdout
    assert owner.splitlines() == [
        "countersign:countersign 700", "countersign:countersign 600", "countersign:countersign 700"]
    shell = machine.run("getent", "passwd", "countersign").stdout.strip().split(":")[-1]
    assert shell == "/usr/sbin/nologin"


def test_the_units_are_valid_and_enabled(machine):
    machine.run("systemd-analyze", "verify", "--man=no", *(f"/usr/lib/systemd/system/{unit}" for unit in UNITS))
    for unit in ["multi-user.target.wants/countersign.service",
                 "timers.target.wants/countersign-backup.timer"]:
        assert (machine.root / "etc/systemd/system" / unit).is_symlink()


@pytest.mark.parametrize("unit", UNITS[:2])
def test_the_services_have_an_exposure_below_2(machine, unit):
    measured = machine.run(
        "systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=19",
        f"/usr/lib/systemd/system/{unit}", check=False)
    assert measured.returncode == 0, measured.stdout[-3000:]


def test_the_service_may_read_how_accurate_the_clock_is_and_not_set_it():
    unit = (ROOT / "packaging/countersign.service").read_text()
    filters = re.findall(r"^SystemCallFilter=(.+)$", unit, re.M)
    # ProtectClock=yes denies the group @clock, whatever follows. glibc reads with clock_adjtime.
    assert "ProtectClock=" not in unit and filters[-1] == "adjtimex clock_adjtime"
    assert "\nCapabilityBoundingSet=\n" in unit and "\nPrivateDevices=yes\n" in unit


@pytest.mark.parametrize("unit", UNITS[:2])
def test_a_service_dumps_no_core(machine, unit):
    assert "\nLimitCORE=0\n" in machine.run("cat", f"/usr/lib/systemd/system/{unit}").stdout


def test_the_service_starts_as_its_user(machine):
    machine.start()
    assert answer(machine).text == "ready\n"
    assert answer(machine, "/setup").status_code == 200
    assert "countersign.css" in answer(machine, "/setup").text
    machine.stop()


def test_the_master_key_can_be_a_credential(machine):
    key = machine.root / DATA / "master.key"
    credential = machine.root / "run/credentials/master-key"
    key.rename(credential)
    machine.start()
    assert answer(machine).text == "ready\n"
    machine.stop()
    assert not key.exists()
    credential.rename(key)


def test_the_backup_service_keeps_14_backups(machine):
    backups = machine.root / "var/backups/countersign"
    for day in range(10, 30):
        (backups / f"countersign-202501{day}T031500Z.sqlite").write_text("backup")
    (backups / "notes.txt").touch()
    said = machine.run(*machine.command("countersign-backup.service"), user="countersign").stdout
    assert "intact" in said
    left = sorted(file.name for file in backups.iterdir())
    assert len(left) == 15 and left[0] == "countersign-20250117T031500Z.sqlite"
    newest = backups / left[-2]
    assert newest.stat().st_size > 100_000 and newest.stat().st_mode & 0o777 == 0o600


def test_a_backup_that_cant_be_verified_isnt_one_of_those_to_keep(machine):
    backups = machine.root / "var/backups/countersign"
    before = sorted(backups.glob("*.sqlite"))
    key = machine.root / DATA / "master.key"
    aside = key.rename(machine.root / "run/aside")
    # A backup is named by its second.
    last = max(path.stat().st_mtime for path in before)
    until(lambda: time.time() >= last + 2, "the second after the last backup")
    failed = machine.run(
        *machine.command("countersign-backup.service"), user="countersign", check=False)
    aside.rename(key)
    assert failed.returncode == 78 and "master.key" in failed.stderr
    assert sorted(backups.glob("*.sqlite")) == before
    assert len(list(backups.glob("*.sqlite.unverified"))) == 1


def test_an_upgrade_keeps_the_data_and_the_configuration(machine):
    key = (machine.root / DATA / "master.key").read_bytes()
    machine.start()
    machine.install(2)
    # The old version serves until the service is restarted.
    assert answer(machine).text == "ready\n"
    machine.stop()
    machine.start()
    assert answer(machine).text == "ready\n"
    machine.stop()
    version = machine.run("dpkg-query", "--show", "--showformat", "${Version}", "countersign").stdout
    assert version.endswith("-2")
    assert (machine.root / DATA / "master.key").read_bytes() == key


def test_removing_keeps_data_and_configuration_and_purging_keeps_backups(machine):
    machine.run("dpkg", "--remove", "countersign")
    assert not (machine.root / "usr/bin/countersign").exists()
    assert (machine.root / DATA / "countersign.sqlite").exists()
    assert (machine.root / "etc/countersign/countersign.conf").exists()
    purged = machine.run("dpkg", "--purge", "countersign")
    assert "warning" not in purged.stderr
    for path in [DATA, "etc/countersign", "etc/logrotate.d/countersign", "var/log/countersign",
                 "etc/systemd/system/multi-user.target.wants/countersign.service"]:
        assert not os.path.lexists(machine.root / path), path
    assert list((machine.root / "var/backups/countersign").glob("*.sqlite"))


def test_a_first_installation_uses_a_credential_and_a_folder_with_remains(machine):
    # The folder is a new volume of root's, in which a creation failed.
    data = machine.root / DATA
    (data / "lost+found").mkdir(parents=True)
    data.chmod(0o755)
    machine.run("install", "-m", "600", "-o", "countersign", "-g", "countersign", "/dev/null",
                f"/{DATA}/server.lock")
    key = base64.urlsafe_b64encode(os.urandom(32)).decode().rstrip("=")
    credential = machine.root / "etc/credstore/countersign.master-key"
    credential.parent.mkdir(mode=0o700, exist_ok=True)
    credential.write_text(f"countersign-master-key-1 0a0b0c0d {key}\n")
    credential.chmod(0o600)
    machine.install(1)
    machine.set("listen", f"127.0.0.1:{machine.port}")
    assert not (data / "master.key").exists()
    owner = machine.run("stat", "-c", "%U:%G %a", f"/{DATA}", f"/{DATA}/countersign.sqlite").stdout
    assert owner.splitlines() == ["countersign:countersign 700", "countersign:countersign 600"]
    passed = machine.root / "run/credentials/master-key"
    shutil.copy(credential, passed)
    passed.chmod(0o644)
    machine.start()
    assert answer(machine).text == "ready\n"
    machine.stop()
    passed.unlink()
    credential.unlink()


def test_purging_empties_a_data_folder_that_is_a_mount_point(machine):
    machine.run("sh", "-ec", f"mount -t tmpfs tmpfs /{DATA}; mkdir /{DATA}/events; "
                f"touch /{DATA}/countersign.sqlite; dpkg --purge countersign; "
                f'test -z "$(ls -A /{DATA})"')
    assert not (machine.root / "etc/countersign").exists()
    shutil.rmtree(machine.root / DATA)


def test_no_instance_is_created_with_another_key_than_an_encrypted_credential(machine):
    encrypted = machine.root / "etc/credstore.encrypted/countersign.master-key"
    encrypted.parent.mkdir(mode=0o700, exist_ok=True)
    encrypted.touch()
    package = next(machine.root.glob("countersign_*-1_*.deb"))
    said = machine.run("dpkg", "--install", f"/{package.name}").stderr
    assert "systemd-creds decrypt --name=master-key" in said
    assert list((machine.root / DATA).iterdir()) == []


def unpacked(packages, path, tmp_path):
    """Returns the bytes of a file in the package."""
    if not (tmp_path / "usr").exists():
        subprocess.run(["dpkg-deb", "--extract", packages[0], tmp_path], check=True)
    return (tmp_path / path).read_bytes()


def test_the_bill_of_materials_names_every_required_library(packages, tmp_path):
    bill = json.loads(unpacked(packages, "usr/share/doc/countersign/countersign.spdx.json", tmp_path))
    assert bill["spdxVersion"] == "SPDX-2.3"
    parts = {part["name"]: part["versionInfo"] for part in bill["packages"]}
    assert parts["swift-runtime"].startswith("6.") and parts["countersign"].endswith("-1")
    libraries = {name for name in dependencies(packages[0]) if name.startswith("lib")}
    assert libraries and libraries <= set(parts)
    described = {one["relatedSpdxElement"] for one in bill["relationships"]}
    assert described == {part["SPDXID"] for part in bill["packages"]}


def test_links_between_the_packaged_documents_work(packages, tmp_path):
    unpacked(packages, "usr/share/doc/countersign/copyright", tmp_path)
    folder = tmp_path / "usr/share/doc/countersign"
    documents = sorted(folder.rglob("*.md"))
    assert folder / "docs/operations.md" in documents and folder / "SECURITY.md" in documents
    for document in documents:
        for link in re.findall(r"\]\(([^)#]+)", document.read_text()):
            assert link.startswith("https://") or (document.parent / link).is_file(), (document, link)


def test_the_documents_that_the_program_and_the_units_name_are_packaged(packages, tmp_path):
    manual = gzip.decompress(unpacked(packages, "usr/share/man/man1/countersign.1.gz", tmp_path))
    texts = [manual.decode()] + [path.read_text() for path in [
        *(tmp_path / "usr/lib/systemd/system" / unit for unit in UNITS),
        tmp_path / "usr/share/countersign/Localizations/messages.pot",
        *(tmp_path / "usr/share/countersign/Templates").rglob("*.md")]]
    named = {path for text in texts for path in re.findall(r"/usr/share/doc/[\w./-]+\w", text)}
    assert len(named) > 2
    for path in named:
        assert (tmp_path / path.lstrip("/")).is_file(), path


def test_the_manual_page_formats_without_warnings(packages, tmp_path):
    page = gzip.decompress(unpacked(packages, "usr/share/man/man1/countersign.1.gz", tmp_path))
    (tmp_path / "countersign.1").write_bytes(page)
    shown = subprocess.run(
        ["man", "--warnings", "--local-file", tmp_path / "countersign.1"], capture_output=True,
        text=True, env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "100"})
    assert shown.returncode == 0 and shown.stderr == ""
    assert "keys rotate-master" in shown.stdout and "--trusted-proxy ADDR" in shown.stdout
