-- Named policies of a project that can be applied to its tenants.
CREATE TABLE policy_template (
  template_id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id TEXT NOT NULL REFERENCES project (project_id),
  name TEXT NOT NULL,
  mfa_state INTEGER,
  sms INTEGER NOT NULL,
  totp_state INTEGER,
  totp_intervals INTEGER,
  pattern TEXT,
  mandatory_from TEXT
) STRICT;
CREATE UNIQUE INDEX policy_template_of_project ON policy_template (project_id, name);

-- The template that a tenant got last: 'strict', 'default', or the number of a template.
CREATE TABLE policy_template_use (
  scope_key INTEGER PRIMARY KEY REFERENCES scope (scope_key),
  template TEXT NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT;

-- The template that an approved policy comes from; NULL for none.
ALTER TABLE approval_policy ADD COLUMN template TEXT;
