-- What an administrator dismissed from what needs attention, in the state in which they saw it: when it began and
-- its number. The key of the pool is 0 for what's about the instance.
CREATE TABLE dismissed_attention (
  administrator_id TEXT NOT NULL REFERENCES administrator (administrator_id) ON DELETE CASCADE,
  scope_key INTEGER NOT NULL,
  kind TEXT NOT NULL,
  state TEXT NOT NULL,
  until INTEGER NOT NULL,
  PRIMARY KEY (administrator_id, scope_key, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX dismissed_attention_by_scope ON dismissed_attention (scope_key);
-- The pools whose users can't sign in.
CREATE INDEX scope_stopped ON scope (project_id, tenant_id) WHERE disabled = 1 OR locked_users > 0;
