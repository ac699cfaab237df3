"""Connected projects: the commands, the reads of a running server, and another Countersign."""

import json

from .pages import Pages
from .program import Server, copy_instance, execute, free_port, query, run
from .rest import Api, create_token, ok
from .waiting import until

# The ID of the project, at the other server and here.
PROJECT = "remote-app"
ALLOW = ["--outbound-allow", "127.0.0.0/8"]


class Other:
    """The server where the users are: tenants with as many users each, of whom some have a phone, and users of the
    project's own pool."""

    def __init__(self, folder, tenants, users, phones, own=0):
        self.folder, self.address = folder, f"127.0.0.1:{free_port()}"
        self._start("data")
        try:
            self._fill(tenants, users, phones, own)
        except BaseException:
            self.server.kill()
            raise

    def _start(self, data):
        self.server = Server(self.folder / data, listen=self.address)

    def back_up(self):
        self.server.stop()
        copy_instance(self.folder / "data", self.folder / "backup")
        self._start("data")

    def restore(self):
        """Has the server go on with the backup, at its address."""
        self.server.stop()
        self._start("backup")

    def _fill(self, tenants, users, phones, own):
        owner = Pages(self.server.url).set_up(self.server.setup_code)
        owner.create_project(PROJECT)
        key, token = owner.api_key(PROJECT), create_token(self.server.data, PROJECT, "owner")
        self.credential = create_token(self.server.data, PROJECT, "connection-read")
        if own:
            self._create(Api(self.server.url, PROJECT, key, token), "own", 0, own, 0)
        self.tenants = {}
        for number, name in enumerate(tenants, 1):
            tenant = Api(self.server.url, PROJECT, key, token, owner.create_tenant(PROJECT, name))
            tenant.switch_totp_on(1)
            self._create(tenant, name, number, users, phones)
            self.tenants[name] = tenant

    @staticmethod
    def _create(pool, name, number, count, phones):
        def user(index):
            uid = f"{name}-{index:03}"
            factor = {
                "mfaEnrollmentId": f"phone-{uid}", "displayName": "Phone", "phoneInfo": f"+1555{number:02}{index:05}"}
            return {"localId": uid, "email": f"{uid}@example.com", "emailVerified": True,
                    **({"mfaInfo": [factor]} if index < phones else {})}
        created = ok(pool.admin("POST", "accounts:batchCreate", {
            "allowOverwrite": True, "users": [user(index) for index in range(count)]}))
        assert not created.get("error"), created

    def change(self, tenant, uid, **members):
        return ok(self.tenants[tenant].admin("POST", "accounts:update", {"localId": uid, **members}))

    def connect_to(self, server, folder):
        """Has a server connect the project, also one that was just disconnected, and waits until it's read."""
        words = ["--url", self.server.url, *ALLOW]
        added = until(lambda: (lambda added: added.returncode == 0 and added)(
            connect(server, PROJECT, self.credential, folder, *words, kind="countersign")), "it's connected", 60)
        assert self.credential not in added.stdout + added.stderr
        assert wait_for_read(server, PROJECT) == "working", connection(server, PROJECT)

    def copy_of(self, server, tenant):
        """Returns the users of a tenant as a server shows them."""
        return users(server, PROJECT, self.tenants[tenant].tenant)


def connect(server, project, credential, folder, *words, kind="identity-platform", access="read"):
    """Connects a project by command while the server runs."""
    (folder / "credential").write_text(credential)
    return run(
        "connection", "add", "--data", server.data, "--kind", kind, "--project", project, "--access", access,
        "--credential-file", folder / "credential", *words)


def connection(server, project):
    """Returns a connection as the command lists it."""
    listed = run("connection", "list", "--data", server.data, "--json")
    assert listed.returncode == 0, listed.stderr
    return next(one for one in json.loads(listed.stdout) if one["project"] == project)


def wait_for_read(server, project):
    """Waits until the read that's due has ended, and returns the connection's state."""
    def ended():
        [(state, due)] = query(
            server.data, "SELECT state, next_walk_at FROM connection WHERE project_id = ?", project)
        return state if int(due) > 0 else None
    return until(ended, f"{project} is read", 180)


def read_again(server, project):
    """Has everything read again, also after a pause, and returns the connection's state."""
    execute(
        server.data, "UPDATE connection SET state = CASE state WHEN 'paused' THEN 'working' ELSE state END, "
        "cause = NULL, next_walk_at = 0, policies_at = NULL WHERE project_id = ?", project)
    return wait_for_read(server, project)


def users(server, project, tenant="", condition="a.gone_at IS NULL"):
    """Returns the UIDs and addresses of a pool's copy."""
    rows = query(
        server.data, "SELECT a.uid, a.email FROM account a JOIN scope s ON s.scope_key = a.scope_key "
        f"WHERE s.project_id = ? AND s.tenant_id = ? AND {condition}", project, tenant)
    return dict(rows)


def history(server, project, action, tenant="%"):
    """Returns who made changes of a kind, in one pool or in all, oldest first."""
    rows = query(
        server.data, "SELECT actor_name FROM audit WHERE project_id = ? AND action = ? AND tenant_id LIKE ? "
        "ORDER BY audit_id", project, action, tenant)
    return [name for name, in rows]
