-- What a project or tenant tells its own support, in Markdown; each saving is a version that stays.
CREATE TABLE guidance (
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  written_at INTEGER NOT NULL,
  written_by TEXT NOT NULL,
  -- In UTF-8; so that lists need not read the text, which stands last for the same reason.
  bytes INTEGER NOT NULL,
  beginning TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (scope_key, version)
) STRICT, WITHOUT ROWID;

-- The audit log is searched by what was done, by whom and to what; in one scope or in all. The
-- indexes end in the row's number, so that each gives the newest first.
ALTER TABLE audit ADD COLUMN action_group TEXT
  GENERATED ALWAYS AS (substr(action, 1, instr(action, '.') - 1)) VIRTUAL;
CREATE INDEX audit_by_action ON audit (project_id, tenant_id, action_group, audit_id);
CREATE INDEX audit_by_actor ON audit (project_id, tenant_id, actor_kind, actor_id, audit_id);
CREATE INDEX audit_of_all_by_action ON audit (action_group, audit_id);
CREATE INDEX audit_of_all_by_actor ON audit (actor_kind, actor_id, audit_id);
CREATE INDEX audit_of_all_by_object ON audit (object_kind, object_id, audit_id);

-- Who can help somebody whose role does not reach.
CREATE INDEX administrator_grant_by_scope ON administrator_grant (project_id, tenant_id, role);
