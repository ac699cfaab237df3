-- Times are microseconds since 1970 unless the name ends in _s (seconds). Ids that people see are text.

CREATE TABLE instance (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE project (
  project_id TEXT PRIMARY KEY,
  number INTEGER NOT NULL UNIQUE,
  display_name TEXT NOT NULL,
  allow_tenants INTEGER NOT NULL DEFAULT 1,
  email_privacy INTEGER NOT NULL,
  allow_duplicate_emails INTEGER NOT NULL DEFAULT 0,
  authorized_domains TEXT NOT NULL DEFAULT 'localhost',
  members TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A scope is one user pool: a project (tenant_id is '') or one of its tenants. The accounts of a
-- scope have the rowids scope_key * 2^40 up to (scope_key + 1) * 2^40 - 1.
CREATE TABLE scope (
  scope_key INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (project_id),
  tenant_id TEXT NOT NULL DEFAULT '',
  display_name TEXT NOT NULL,
  password INTEGER NOT NULL,
  email_link INTEGER NOT NULL,
  anonymous INTEGER NOT NULL,
  disabled INTEGER NOT NULL DEFAULT 0,
  members TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  deleted_at INTEGER,
  next_account INTEGER NOT NULL DEFAULT 1,
  -- The MFA configuration. State: 0 unspecified, 1 disabled, 2 enabled, 3 mandatory.
  mfa_state INTEGER,
  sms INTEGER NOT NULL DEFAULT 0,
  totp_state INTEGER,
  totp_intervals INTEGER CHECK (totp_intervals BETWEEN 0 AND 10),
  pattern TEXT,
  policy_version INTEGER NOT NULL DEFAULT 0,
  policy_changed_at INTEGER,
  policy_changed_by TEXT,
  -- Counted with every change, so that lists need not count.
  users INTEGER NOT NULL DEFAULT 0,
  enrolled_users INTEGER NOT NULL DEFAULT 0,
  UNIQUE (project_id, tenant_id)
) STRICT;

CREATE TABLE account (
  account_key INTEGER PRIMARY KEY,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  uid TEXT NOT NULL,
  email TEXT,
  email_folded TEXT,
  email_verified INTEGER NOT NULL DEFAULT 0,
  display_name TEXT,
  photo_url TEXT,
  phone TEXT,
  password_hash TEXT,
  password_updated_at INTEGER,
  anonymous INTEGER NOT NULL DEFAULT 0,
  custom_auth INTEGER NOT NULL DEFAULT 0,
  disabled INTEGER NOT NULL DEFAULT 0,
  custom_attributes TEXT,
  valid_since_s INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_login_at INTEGER,
  last_refresh_at INTEGER,
  -- Wrong codes in a row. Wrong passwords are counted apart, in throttle.
  wrong_codes INTEGER NOT NULL DEFAULT 0,
  codes_blocked_until INTEGER,
  -- 1 with a TOTP factor; kept so that lists by factor read an index.
  has_totp INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX account_by_uid ON account (scope_key, uid);
CREATE UNIQUE INDEX account_by_email ON account (scope_key, email_folded)
  WHERE email_folded IS NOT NULL;
CREATE INDEX account_by_totp ON account (scope_key, has_totp, account_key);
CREATE UNIQUE INDEX account_by_phone ON account (scope_key, phone) WHERE phone IS NOT NULL;

CREATE TABLE factor (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  enrolment_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  display_name TEXT,
  enrolled_at INTEGER NOT NULL,
  last_used_at INTEGER,
  sealed_secret BLOB,
  last_step INTEGER,
  PRIMARY KEY (account_key, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX factor_by_id ON factor (account_key, enrolment_id);

-- A user's session is a refresh token. Only its digest is kept. It counts while auth_time_s is not
-- before the account's valid_since_s.
CREATE TABLE session (
  -- Begins with the time, so that what sign-ins add lies together and a commit writes few pages.
  session_id BLOB PRIMARY KEY,
  token_digest BLOB NOT NULL,
  -- Not a reference: a token of a deleted account is told so. Keys are never given twice.
  account_key INTEGER NOT NULL,
  auth_time_s INTEGER NOT NULL,
  provider TEXT NOT NULL,
  factor_kind TEXT,
  enrolment_id TEXT,
  created_at INTEGER NOT NULL,
  last_refresh_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX session_by_account ON session (account_key);

-- What must be used once, or counts its tries: pending credentials and enrolment sessions.
-- Their ids begin with the time of issue, so the oldest are a range.
CREATE TABLE ticket (
  ticket_id BLOB PRIMARY KEY,
  uses INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Wrong guesses at passwords, per address and per name guessed at, whether it exists or not.
CREATE TABLE throttle (
  name TEXT PRIMARY KEY,
  failures INTEGER NOT NULL,
  blocked_until INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX throttle_by_expiry ON throttle (expires_at);

CREATE TABLE api_key (
  api_key TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (project_id),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX api_key_by_project ON api_key (project_id);

CREATE TABLE service_token (
  token_id TEXT PRIMARY KEY,
  token_digest BLOB NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES project (project_id),
  tenant_id TEXT NOT NULL DEFAULT '',
  role TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX service_token_by_project ON service_token (project_id);

CREATE TABLE signing_key (
  key_id TEXT PRIMARY KEY,
  sealed_key BLOB NOT NULL,
  certificate TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE administrator (
  administrator_id TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  email_folded TEXT NOT NULL UNIQUE,
  display_name TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE administrator_grant (
  administrator_id TEXT NOT NULL REFERENCES administrator (administrator_id) ON DELETE CASCADE,
  role TEXT NOT NULL,
  project_id TEXT NOT NULL DEFAULT '',
  tenant_id TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (administrator_id, role, project_id, tenant_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE console_session (
  token_digest BLOB PRIMARY KEY,
  administrator_id TEXT NOT NULL REFERENCES administrator (administrator_id) ON DELETE CASCADE,
  csrf_token TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX console_session_by_administrator ON console_session (administrator_id);
CREATE INDEX console_session_by_age ON console_session (created_at);

CREATE TABLE audit (
  audit_id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  actor_name TEXT NOT NULL,
  project_id TEXT NOT NULL DEFAULT '',
  tenant_id TEXT NOT NULL DEFAULT '',
  action TEXT NOT NULL,
  object_kind TEXT NOT NULL,
  object_id TEXT NOT NULL,
  object_name TEXT NOT NULL,
  from_value TEXT,
  to_value TEXT,
  reason TEXT,
  note TEXT,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_scope ON audit (project_id, tenant_id, audit_id);
CREATE INDEX audit_by_object ON audit (project_id, tenant_id, object_kind, object_id, audit_id);
