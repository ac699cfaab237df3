-- The schema of a new database. Times are microseconds since 1970, flags are 0 or 1, and texts are compared
-- by their bytes. The primary key of a table with a pool's data has the pool's key: scope_key, or account_key,
-- which is scope_key × 2^40 plus a number in the pool.

-- The last number of each table whose key is a pool and a number. SQLite chooses numbers only for a key of one
-- column; a trigger of the table advances the last one, so that none is used again.
CREATE TABLE key_sequence (
  name TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The instance and its projects

CREATE TABLE instance (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE lease (
  name TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The servers on this database, as each reports itself; empty in a file, which has one server.
CREATE TABLE node (
  node_id TEXT PRIMARY KEY,
  -- The host, and the file or variable with the master key.
  place TEXT NOT NULL,
  -- The IDs of the master keys that it has, separated by spaces.
  master_keys TEXT NOT NULL,
  until INTEGER NOT NULL
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
  created_at INTEGER NOT NULL,
  deleted_at INTEGER,
  tenants INTEGER NOT NULL DEFAULT 0,
  users INTEGER NOT NULL DEFAULT 0,
  enrolled_users INTEGER NOT NULL DEFAULT 0,
  import_totp INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

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
  -- Updated with every change, so that lists don't count.
  users INTEGER NOT NULL DEFAULT 0,
  enrolled_users INTEGER NOT NULL DEFAULT 0,
  unverified_users INTEGER NOT NULL DEFAULT 0,
  disabled_users INTEGER NOT NULL DEFAULT 0,
  mandatory_from TEXT,
  purged_at INTEGER,
  sign_up_off INTEGER NOT NULL DEFAULT 0,
  deletion_off INTEGER NOT NULL DEFAULT 0,
  password_enforced INTEGER NOT NULL DEFAULT 0,
  password_upgrade INTEGER NOT NULL DEFAULT 0,
  password_shortest INTEGER,
  password_longest INTEGER,
  password_classes INTEGER NOT NULL DEFAULT 0,
  password_changed_at INTEGER,
  anonymous_expire INTEGER NOT NULL DEFAULT 0,
  totp_users INTEGER NOT NULL DEFAULT 0,
  phone_users INTEGER NOT NULL DEFAULT 0,
  phone INTEGER NOT NULL DEFAULT 0,
  withdrawal_needs_factor INTEGER NOT NULL DEFAULT 0,
  locked_users INTEGER NOT NULL DEFAULT 0,
  policy_stamp INTEGER NOT NULL DEFAULT 0,
  policy_reason TEXT,
  enforcement TEXT,
  enforced_from TEXT,
  grace_days INTEGER,
  policy_in_force TEXT GENERATED ALWAYS AS (
    CASE WHEN deleted_at IS NULL THEN
      CASE WHEN coalesce(totp_state, 1) = 1 THEN 'off'
        ELSE CASE totp_state WHEN 3 THEN 'mandatory ' ELSE 'on ' END
          || coalesce(totp_intervals, 5)
      END
      || CASE WHEN sms = 1 AND coalesce(mfa_state, 1) >= 2 THEN ', SMS, ' ELSE ', ' END
      || coalesce(pattern, '') || ' ' || coalesce(mandatory_from, '')
      || coalesce(', ' || enforcement || ' ' || enforced_from || ' ' || grace_days, '')
    END
  ) VIRTUAL,
  has_differing INTEGER NOT NULL DEFAULT 0,
  UNIQUE (project_id, tenant_id)
) STRICT;
CREATE INDEX scope_to_purge ON scope (deleted_at) WHERE deleted_at IS NOT NULL AND purged_at IS
  NULL;
CREATE INDEX scope_expiring ON scope (anonymous_expire) WHERE anonymous_expire = 1;
CREATE INDEX scope_wanting ON scope (project_id, tenant_id) WHERE deleted_at IS NULL AND (totp_state
  = 0 OR ifnull(totp_state, 1) = 1 AND totp_users > 0 OR NOT (sms = 1 AND ifnull(mfa_state, 1) >= 2)
  AND phone_users > 0);
CREATE INDEX scope_by_policy ON scope (project_id, policy_in_force, tenant_id) WHERE tenant_id <>
  '';
CREATE INDEX scope_differing ON scope (project_id) WHERE has_differing = 1;

CREATE TABLE api_key (
  api_key TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (project_id),
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_key_by_project ON api_key (project_id, created_at, api_key);

CREATE TABLE service_token (
  token_id TEXT PRIMARY KEY,
  token_digest BLOB NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES project (project_id),
  tenant_id TEXT NOT NULL DEFAULT '',
  role TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  revoked_at INTEGER,
  last_used_at INTEGER,
  created_by_id TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE INDEX service_token_by_project ON service_token (project_id);
CREATE INDEX service_token_by_maker ON service_token (created_by_id) WHERE revoked_at IS NULL;

CREATE TABLE signing_key (
  key_id TEXT PRIMARY KEY,
  sealed_key BLOB NOT NULL,
  certificate TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  signs_from INTEGER NOT NULL DEFAULT 0,
  verifies_until INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE master_key (
  key_id TEXT PRIMARY KEY,
  first_used_at INTEGER NOT NULL,
  -- When the first pass had re-encrypted everything with it.
  resealed_at INTEGER,
  passes INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE reseal (
  place TEXT PRIMARY KEY,
  position TEXT NOT NULL,
  rows INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  done INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE trusted_token_key (
  trusted_token_key_id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES project (project_id),
  issuer TEXT NOT NULL,
  key_id TEXT NOT NULL DEFAULT '',
  -- SubjectPublicKeyInfo as DER, and its digest in hexadecimal.
  public_key BLOB NOT NULL,
  fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX trusted_token_key_by_project ON trusted_token_key (project_id, created_at);
CREATE UNIQUE INDEX trusted_token_key_in_force ON trusted_token_key (project_id, issuer,
  fingerprint) WHERE revoked_at IS NULL;

CREATE TABLE identity_provider (
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  provider_id TEXT NOT NULL,
  display_name TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  issuer TEXT NOT NULL DEFAULT '',
  client_id TEXT NOT NULL DEFAULT '',
  -- The provider's public keys, as a JSON Web Key Set.
  key_set TEXT NOT NULL DEFAULT '',
  sealed_secret BLOB,
  -- The members of the message that have no effect here and are returned as they are.
  members TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (scope_key, provider_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE unreadable_secret (
  kind TEXT NOT NULL,
  project_id TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  object_id TEXT NOT NULL,
  -- Which secret of the object, where it can have several.
  part TEXT NOT NULL,
  -- "changed", or "unknown-key" for a master key that isn't in the ring.
  reason TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  -- Whether it's in the audit log and among what needs attention.
  reported INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (kind, project_id, tenant_id, object_id, part)
) STRICT, WITHOUT ROWID;
CREATE INDEX unreadable_secret_by_failure ON unreadable_secret (last_at);

CREATE TABLE integrity_check (
  one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  checked_at INTEGER NOT NULL,
  -- The first lines of the report; empty if there were no faults.
  faults TEXT NOT NULL
) STRICT;

-- Users

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
  -- Consecutive wrong codes. Wrong passwords are counted separately, in throttle.
  wrong_codes INTEGER NOT NULL DEFAULT 0,
  codes_blocked_until INTEGER,
  -- 1 with a TOTP factor; stored so that lists by factor read an index.
  has_totp INTEGER NOT NULL DEFAULT 0,
  name_folded TEXT,
  has_phone INTEGER NOT NULL DEFAULT 0,
  last_login_day INTEGER NOT NULL DEFAULT 0,
  has_providers INTEGER NOT NULL DEFAULT 0,
  email_link INTEGER NOT NULL DEFAULT 0,
  initial_email TEXT,
  protected INTEGER NOT NULL DEFAULT 0,
  changes_locked_at INTEGER,
  suspended_until INTEGER,
  last_code_attempt_at INTEGER,
  generation INTEGER NOT NULL DEFAULT 0,
  has_former_addresses INTEGER NOT NULL DEFAULT 0,
  given_fields INTEGER NOT NULL DEFAULT 0,
  reach TEXT,
  -- Whether initial_email was verified when it was the account's.
  initial_email_verified INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE UNIQUE INDEX account_by_uid ON account (scope_key, uid);
CREATE UNIQUE INDEX account_by_email ON account (scope_key, email_folded) WHERE email_folded IS NOT
  NULL;
CREATE UNIQUE INDEX account_by_phone ON account (scope_key, phone) WHERE phone IS NOT NULL;
CREATE INDEX account_phone ON account (scope_key) WHERE has_phone = 1;
CREATE INDEX account_phone_by_email ON account (scope_key, ifnull(email_folded, x'FF')) WHERE
  has_phone = 1;
CREATE INDEX account_phone_by_name ON account (scope_key, ifnull(name_folded, x'FF')) WHERE
  has_phone = 1;
CREATE INDEX account_phone_by_login ON account (scope_key, last_login_day) WHERE has_phone = 1;
CREATE INDEX account_disabled ON account (scope_key) WHERE disabled = 1;
CREATE INDEX account_disabled_by_email ON account (scope_key, ifnull(email_folded, x'FF')) WHERE
  disabled = 1;
CREATE INDEX account_disabled_by_name ON account (scope_key, ifnull(name_folded, x'FF')) WHERE
  disabled = 1;
CREATE INDEX account_disabled_by_login ON account (scope_key, last_login_day) WHERE disabled = 1;
CREATE INDEX account_unverified ON account (scope_key) WHERE email_folded IS NOT NULL AND
  email_verified = 0;
CREATE INDEX account_unverified_by_email ON account (scope_key, ifnull(email_folded, x'FF')) WHERE
  email_folded IS NOT NULL AND email_verified = 0;
CREATE INDEX account_unverified_by_name ON account (scope_key, ifnull(name_folded, x'FF')) WHERE
  email_folded IS NOT NULL AND email_verified = 0;
CREATE INDEX account_unverified_by_login ON account (scope_key, last_login_day) WHERE email_folded
  IS NOT NULL AND email_verified = 0;
CREATE INDEX account_anonymous ON account (scope_key, created_at) WHERE anonymous = 1;
CREATE INDEX account_by_factors ON account (scope_key, has_totp, has_phone);
CREATE INDEX account_list_by_email ON account (scope_key, has_totp, has_phone, ifnull(email_folded,
  x'FF'));
CREATE INDEX account_list_by_name ON account (scope_key, has_totp, has_phone, ifnull(name_folded,
  x'FF'));
CREATE INDEX account_list_by_login ON account (scope_key, has_totp, has_phone, last_login_day);
CREATE INDEX account_by_creation ON account (scope_key, created_at);
CREATE INDEX account_lock_end ON account (codes_blocked_until) WHERE codes_blocked_until IS NOT
  NULL;
CREATE INDEX account_locked ON account (scope_key) WHERE codes_blocked_until IS NOT NULL;
CREATE INDEX account_locked_by_email ON account (scope_key, ifnull(email_folded, x'FF')) WHERE
  codes_blocked_until IS NOT NULL;
CREATE INDEX account_locked_by_name ON account (scope_key, ifnull(name_folded, x'FF')) WHERE
  codes_blocked_until IS NOT NULL;
CREATE INDEX account_locked_by_login ON account (scope_key, last_login_day) WHERE
  codes_blocked_until IS NOT NULL;
CREATE INDEX account_by_changes_lock ON account (scope_key, changes_locked_at) WHERE
  changes_locked_at IS NOT NULL;
-- The users with a suspended factor, for lists; ended suspensions come before the current ones.
CREATE INDEX account_suspended ON account (scope_key, suspended_until) WHERE suspended_until IS NOT
  NULL;
CREATE INDEX account_suspension_end ON account (suspended_until) WHERE suspended_until IS NOT
  NULL;
CREATE INDEX account_initial_email ON account (scope_key, initial_email) WHERE initial_email IS NOT
  NULL;

CREATE TABLE account_text (
  account_key INTEGER PRIMARY KEY,
  folded TEXT NOT NULL
) STRICT;

-- Finds three characters and more in any place.
CREATE VIRTUAL TABLE account_search USING fts5 (
  folded, content = 'account_text', content_rowid = 'account_key',
  tokenize = 'trigram case_sensitive 1'
);

CREATE TABLE account_beginning (
  beginning TEXT NOT NULL,
  account_key INTEGER NOT NULL,
  PRIMARY KEY (beginning, account_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE account_provider (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  scope_key INTEGER NOT NULL,
  provider_id TEXT NOT NULL,
  raw_id TEXT NOT NULL,
  email TEXT,
  display_name TEXT,
  photo_url TEXT,
  -- Whether the provider, an administrator, or a program vouches for the email address.
  email_verified INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (account_key, provider_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX account_provider_by_id ON account_provider (scope_key, provider_id, raw_id);

CREATE TABLE factor (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  enrollment_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  display_name TEXT,
  enrolled_at INTEGER NOT NULL,
  last_used_at INTEGER,
  sealed_secret BLOB,
  last_step INTEGER,
  phone TEXT,
  suspended_until INTEGER,
  unused_steps TEXT,
  -- A keyed digest of the secret, which is the same for equal secrets of a user pool; NULL until the
  -- server has computed it.
  secret_digest BLOB,
  -- How many steps the device's clock is ahead of the server's, negative if it's behind; NULL unless it
  -- was resynchronized.
  clock_offset INTEGER CHECK (abs(clock_offset) <= 40),
  -- In which direction the last accepted code was off after that: -1, 0, or 1.
  clock_trend INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account_key, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX factor_by_id ON factor (account_key, enrollment_id);
CREATE INDEX factor_by_secret ON factor (secret_digest, account_key) WHERE secret_digest IS NOT
  NULL;
CREATE INDEX factor_without_digest ON factor (account_key) WHERE sealed_secret IS NOT NULL AND
  secret_digest IS NULL;

CREATE TABLE removed_factor (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  enrollment_id TEXT NOT NULL,
  removal_id TEXT NOT NULL,
  removed_at INTEGER NOT NULL,
  removed_by TEXT NOT NULL,
  remover_name TEXT NOT NULL,
  until INTEGER NOT NULL,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  display_name TEXT,
  enrolled_at INTEGER NOT NULL,
  last_used_at INTEGER,
  phone TEXT,
  sealed_secret BLOB,
  last_step INTEGER,
  suspended_until INTEGER,
  unused_steps TEXT,
  clock_offset INTEGER CHECK (abs(clock_offset) <= 40),
  PRIMARY KEY (account_key, enrollment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX removed_factor_by_end ON removed_factor (until);
CREATE INDEX removed_factor_by_remover ON removed_factor (removed_by, until);

CREATE TABLE backup_code_set (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('temporary', 'recovery')),
  sealed_key BLOB NOT NULL,
  made_at INTEGER NOT NULL,
  -- NULL for codes that don't expire.
  expires_at INTEGER,
  PRIMARY KEY (account_key, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX backup_code_set_by_expiry ON backup_code_set (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE backup_code (
  account_key INTEGER NOT NULL,
  kind TEXT NOT NULL,
  code_digest BLOB NOT NULL,
  PRIMARY KEY (account_key, kind, code_digest),
  FOREIGN KEY (account_key, kind) REFERENCES backup_code_set (account_key, kind) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE former_address (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  -- Normalized by Mailbox.
  address TEXT NOT NULL,
  PRIMARY KEY (account_key, address)
) STRICT, WITHOUT ROWID;

-- Addresses that were never verified, and got the one notice that they get.
CREATE TABLE noticed_address (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  address TEXT NOT NULL,
  PRIMARY KEY (account_key, address)
) STRICT, WITHOUT ROWID;

CREATE TABLE exemption (
  exemption_id INTEGER NOT NULL,
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  reason TEXT NOT NULL,
  note TEXT NOT NULL,
  ticket TEXT NOT NULL,
  granted_at INTEGER NOT NULL,
  grantor_id TEXT NOT NULL,
  grantor_name TEXT NOT NULL,
  -- When it ends, or was ended early.
  ends_at INTEGER NOT NULL,
  PRIMARY KEY (account_key, exemption_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX exemption_by_end ON exemption (ends_at, account_key);
CREATE TRIGGER exemption_number AFTER INSERT ON exemption
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.exemption_id) WHERE name = 'exemption';
END;

-- Sign-in

CREATE TABLE session (
  -- Begins with the time, so that new sessions are next to each other.
  session_id BLOB NOT NULL,
  token_digest BLOB NOT NULL,
  -- Not a reference: a token of a deleted account is rejected as such. Keys are never reused.
  account_key INTEGER NOT NULL,
  auth_time_s INTEGER NOT NULL,
  provider TEXT NOT NULL,
  factor_kind TEXT,
  enrollment_id TEXT,
  created_at INTEGER NOT NULL,
  last_refresh_at INTEGER,
  claims TEXT,
  generation INTEGER NOT NULL DEFAULT 0,
  deleted_uid TEXT,
  -- Whether a recovery code or a temporary code stood in for the second factor.
  used_backup_code INTEGER NOT NULL DEFAULT 0,
  -- When the user signed in, in Unix seconds, if the session continues one that a change of theirs
  -- ended.
  signed_in_at_s INTEGER,
  PRIMARY KEY (account_key, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_by_id ON session (session_id);
CREATE INDEX session_by_deleted_uid ON session (deleted_uid) WHERE deleted_uid IS NOT NULL;

-- Whether a ticket was used is decided by its ID alone.
CREATE TABLE ticket (
  -- 0 for an administrator's ticket.
  scope_key INTEGER NOT NULL DEFAULT 0,
  ticket_id BLOB NOT NULL,
  uses INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (scope_key, ticket_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX ticket_by_id ON ticket (ticket_id);

CREATE TABLE throttle (
  name TEXT PRIMARY KEY,
  failures INTEGER NOT NULL,
  blocked_until INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX throttle_by_expiry ON throttle (expires_at);

CREATE TABLE oob_code (
  code_digest BLOB NOT NULL,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  -- NULL for a sign-in, whose account may not exist yet.
  account_key INTEGER REFERENCES account (account_key) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('PASSWORD_RESET', 'VERIFY_EMAIL', 'RECOVER_EMAIL',
    'EMAIL_SIGNIN', 'VERIFY_AND_CHANGE_EMAIL', 'REVERT_SECOND_FACTOR_ADDITION')),
  -- The address that the code is about; for RECOVER_EMAIL, the one to restore.
  email TEXT NOT NULL,
  new_email TEXT,
  enrollment_id TEXT,
  continue_url TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER,
  -- The link, in the emulator profile only, for tests of applications.
  link TEXT,
  PRIMARY KEY (scope_key, code_digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX oob_code_by_digest ON oob_code (code_digest);
CREATE INDEX oob_code_by_account ON oob_code (account_key);
CREATE INDEX oob_code_by_scope ON oob_code (scope_key, created_at);
CREATE INDEX oob_code_by_email ON oob_code (scope_key, email) WHERE account_key IS NULL;
CREATE INDEX oob_code_by_expiry ON oob_code (expires_at);

CREATE TABLE user_link (
  link_digest BLOB NOT NULL,
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('enrollment', 'reported-change')),
  -- The change that a user would report, in words; who sent an enrollment link.
  about TEXT NOT NULL,
  valid_since_s INTEGER NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER,
  -- The account's generation when the link was created; it ends with the sessions.
  generation INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account_key, link_digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_link_by_digest ON user_link (link_digest);
CREATE INDEX user_link_by_expiry ON user_link (expires_at);

CREATE TABLE caller_code (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  administrator_id TEXT NOT NULL,
  -- A code is invalid once the account's address is a different one.
  email TEXT NOT NULL,
  -- The key of the HMAC that is stored in place of the code.
  digest_key BLOB NOT NULL,
  code_digest BLOB NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  sent_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (account_key, administrator_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX caller_code_by_expiry ON caller_code (expires_at);

CREATE TABLE verification_code (
  session_id BLOB NOT NULL,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  session_info TEXT NOT NULL,
  PRIMARY KEY (scope_key, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX verification_code_by_session ON verification_code (session_id);

CREATE TABLE sms_count (
  scope_key INTEGER NOT NULL,
  day INTEGER NOT NULL,
  region TEXT NOT NULL,
  sent INTEGER NOT NULL,
  PRIMARY KEY (scope_key, day, region)
) STRICT, WITHOUT ROWID;
CREATE INDEX sms_count_by_day ON sms_count (day);

CREATE TABLE code_attempt (
  scope_key INTEGER NOT NULL,
  at INTEGER NOT NULL,
  account_key INTEGER NOT NULL,
  previous INTEGER,
  -- What the code was for: app, phone, or enrollment.
  way TEXT NOT NULL,
  result TEXT NOT NULL,
  enrollment_id TEXT,
  -- The adjacent intervals that were accepted; NULL if there's no window.
  intervals INTEGER,
  -- The code's distance from now in steps (negative: late), and its step; NULL for no near step.
  distance INTEGER,
  step INTEGER,
  -- 1 for a code outside the window that a correct one followed soon after.
  confirmed INTEGER NOT NULL DEFAULT 0,
  -- Codes that aren't checked are counted in one row.
  times INTEGER NOT NULL DEFAULT 1,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  PRIMARY KEY (scope_key, at, account_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX code_attempt_by_result ON code_attempt (scope_key, result, way, at) WHERE result <>
  'accepted';

-- The last code attempts that are left of deleted accounts, which the cleanup deletes in parts.
CREATE TABLE deleted_attempts (
  account_key INTEGER PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT;

-- Policy

CREATE TABLE guidance (
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  written_at INTEGER NOT NULL,
  written_by TEXT NOT NULL,
  -- The length in UTF-8, so that lists don't read the text.
  bytes INTEGER NOT NULL,
  beginning TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (scope_key, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE policy_weakening (
  scope_key INTEGER PRIMARY KEY REFERENCES scope (scope_key) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  author_name TEXT NOT NULL,
  reason TEXT,
  -- When owners were last sent an email about it.
  notified_at INTEGER,
  mfa_state INTEGER,
  sms INTEGER NOT NULL,
  totp_state INTEGER,
  totp_intervals INTEGER,
  pattern TEXT,
  mandatory_from TEXT,
  enforcement TEXT,
  enforced_from TEXT,
  grace_days INTEGER
) STRICT;
CREATE INDEX policy_weakening_by_time ON policy_weakening (at);

-- Administrators

CREATE TABLE administrator (
  administrator_id TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  email_folded TEXT NOT NULL UNIQUE,
  display_name TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  sign_ins INTEGER NOT NULL DEFAULT 0,
  last_sign_in_at INTEGER,
  language TEXT NOT NULL DEFAULT 'en',
  time_zone TEXT NOT NULL DEFAULT 'UTC',
  theme TEXT NOT NULL DEFAULT 'system',
  totp_secret BLOB,
  totp_enrolled_at INTEGER,
  totp_last_used_at INTEGER,
  totp_last_step INTEGER,
  totp_unused_steps TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE administrator_grant (
  administrator_id TEXT NOT NULL REFERENCES administrator (administrator_id) ON DELETE CASCADE,
  role TEXT NOT NULL,
  project_id TEXT NOT NULL DEFAULT '',
  tenant_id TEXT NOT NULL DEFAULT '',
  is_from_provider INTEGER NOT NULL DEFAULT 0,
  ends_at INTEGER,
  is_reminded INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (administrator_id, role, project_id, tenant_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX administrator_grant_by_scope ON administrator_grant (project_id, tenant_id, role);
CREATE INDEX administrator_grant_ending ON administrator_grant (ends_at) WHERE ends_at IS NOT NULL;

CREATE TABLE administrator_provider_link (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  administrator_id TEXT NOT NULL UNIQUE REFERENCES administrator ON DELETE CASCADE,
  groups TEXT NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE sign_in_provider (
  provider_id INTEGER PRIMARY KEY CHECK (provider_id = 1),
  name TEXT NOT NULL,
  issuer TEXT NOT NULL,
  client_id TEXT NOT NULL,
  -- NULL for a client without a secret.
  sealed_secret BLOB,
  scopes TEXT NOT NULL,
  groups_claim TEXT NOT NULL,
  -- The values of acr and amr that stand for a second factor, as a JSON array.
  mfa_values TEXT NOT NULL
) STRICT;

CREATE TABLE sign_in_provider_role (
  group_name TEXT NOT NULL,
  role TEXT NOT NULL,
  project_id TEXT NOT NULL DEFAULT '',
  tenant_id TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (group_name, role, project_id, tenant_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE passkey (
  passkey_id TEXT NOT NULL PRIMARY KEY,
  administrator_id TEXT NOT NULL REFERENCES administrator ON DELETE CASCADE,
  credential_id BLOB NOT NULL UNIQUE,
  cose_key BLOB NOT NULL,
  sign_count INTEGER NOT NULL,
  aaguid BLOB NOT NULL,
  transports TEXT NOT NULL,
  is_backup_eligible INTEGER NOT NULL,
  is_backed_up INTEGER NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_by_administrator ON passkey (administrator_id);

CREATE TABLE recovery_code (
  administrator_id TEXT NOT NULL REFERENCES administrator (administrator_id) ON DELETE CASCADE,
  code_digest BLOB NOT NULL,
  PRIMARY KEY (administrator_id, code_digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE invitation (
  invitation_id TEXT PRIMARY KEY,
  token_digest BLOB NOT NULL UNIQUE,
  email TEXT NOT NULL,
  email_folded TEXT NOT NULL UNIQUE,
  display_name TEXT NOT NULL,
  role TEXT NOT NULL,
  project_id TEXT NOT NULL DEFAULT '',
  tenant_id TEXT NOT NULL DEFAULT '',
  invited_by TEXT NOT NULL,
  inviter_name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  grant_ends_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX invitation_by_expiry ON invitation (expires_at);
CREATE INDEX invitation_by_place ON invitation (project_id, tenant_id);

CREATE TABLE console_session (
  token_digest BLOB PRIMARY KEY,
  administrator_id TEXT NOT NULL REFERENCES administrator (administrator_id) ON DELETE CASCADE,
  csrf_token TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  proved_at INTEGER,
  provider_issuer TEXT,
  provider_at INTEGER,
  provider_mfa_at INTEGER,
  passkey_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX console_session_by_administrator ON console_session (administrator_id);
CREATE INDEX console_session_by_age ON console_session (created_at);
CREATE INDEX console_session_by_provider ON console_session (provider_issuer) WHERE provider_issuer
  IS NOT NULL;

-- What the console keeps from one page for a later one: a code that is shown once, the fields of a
-- form, and a form that was submitted after its session had expired. Nothing is kept for more than
-- ten minutes.
CREATE TABLE console_storage (
  -- A digest of the session or the administrator.
  owner_digest BLOB NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('code', 'fields', 'draft')),
  -- A digest of the user, the address, or the browser that it's for.
  subject_digest BLOB NOT NULL,
  sealed BLOB NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (owner_digest, kind, subject_digest)
) STRICT;
CREATE INDEX console_storage_by_expiry ON console_storage (expires_at);

CREATE TABLE audit_reading (
  administrator_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  read_at INTEGER NOT NULL,
  PRIMARY KEY (administrator_id, project_id, tenant_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_reading_by_age ON audit_reading (read_at);

CREATE TABLE sign_off (
  sign_off_id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id TEXT NOT NULL,
  signed_at INTEGER NOT NULL,
  reviewer_id TEXT NOT NULL,
  reviewer_name TEXT NOT NULL,
  note TEXT NOT NULL,
  -- The day of the next review, as 2026-12-31.
  due_on TEXT NOT NULL,
  -- The SHA-256 digest of the policies of all pools, how many there were, and the stamp that the
  -- project had: policies with the same stamp are the same.
  digest BLOB NOT NULL,
  pools INTEGER NOT NULL,
  policy_stamp INTEGER NOT NULL,
  -- Whether it's the project's latest.
  latest INTEGER NOT NULL,
  -- When the reviewer was reminded that the next review is due.
  reminded_at INTEGER
) STRICT;
CREATE INDEX sign_off_by_project ON sign_off (project_id, sign_off_id);
CREATE INDEX sign_off_by_due_day ON sign_off (due_on) WHERE latest = 1;

-- Support

CREATE TABLE support_rules (
  scope_key INTEGER PRIMARY KEY REFERENCES scope (scope_key),
  code_cap INTEGER NOT NULL CHECK (code_cap BETWEEN 5 AND 100),
  undo_hours INTEGER NOT NULL CHECK (undo_hours BETWEEN 0 AND 720),
  code_attempt_days INTEGER NOT NULL CHECK (code_attempt_days BETWEEN 1 AND 400),
  temporary_codes INTEGER NOT NULL,
  recovery_codes INTEGER NOT NULL,
  -- A line for each identity check.
  identity_proof TEXT NOT NULL,
  actions_per_hour INTEGER NOT NULL CHECK (actions_per_hour BETWEEN 1 AND 1000),
  approval_over_users INTEGER CHECK (approval_over_users >= 0),
  approval_for_last_factor INTEGER NOT NULL,
  token_removal INTEGER NOT NULL DEFAULT 1,
  token_changes_per_hour INTEGER,
  policy_approval_over INTEGER,
  caller_verification TEXT NOT NULL DEFAULT 'off',
  -- The share of sign-ins that a recommended window keeps, in hundredths of a percent.
  sign_in_goal INTEGER NOT NULL DEFAULT 9990 CHECK (sign_in_goal BETWEEN 9000 AND 10000),
  -- Whether agents can resynchronize devices whose clock is off.
  resynchronization INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE support_action (
  action_id INTEGER NOT NULL,
  administrator_id TEXT NOT NULL,
  scope_key INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (scope_key, action_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX support_action_by_agent ON support_action (administrator_id, scope_key, at);
CREATE INDEX support_action_by_age ON support_action (at);
CREATE TRIGGER support_action_number AFTER INSERT ON support_action
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.action_id) WHERE name = 'support_action';
END;

CREATE TABLE support_hold (
  administrator_id TEXT NOT NULL REFERENCES administrator (administrator_id) ON DELETE CASCADE,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  held_at INTEGER NOT NULL,
  PRIMARY KEY (administrator_id, scope_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX support_hold_by_scope ON support_hold (scope_key);

CREATE TABLE bulk_job (
  job_id INTEGER NOT NULL,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  state TEXT NOT NULL CHECK (state IN ('draft', 'waiting', 'running', 'done', 'stopped')),
  administrator_id TEXT NOT NULL,
  administrator_name TEXT NOT NULL,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  -- The number of lines in the list, of users among them to act on, and of factors that those had
  -- at the preview.
  lines INTEGER NOT NULL DEFAULT 0,
  users INTEGER NOT NULL DEFAULT 0,
  factors INTEGER NOT NULL DEFAULT 0,
  -- How many of those users were processed, and with what result.
  users_done INTEGER NOT NULL DEFAULT 0,
  users_removed INTEGER NOT NULL DEFAULT 0,
  factors_removed INTEGER NOT NULL DEFAULT 0,
  sessions_ended INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  note TEXT,
  ticket TEXT,
  proof TEXT,
  -- Who approved it, if that was required.
  approver_name TEXT,
  -- Why it was stopped, and by whom.
  ending TEXT,
  kind TEXT NOT NULL DEFAULT 'removal' CHECK (kind IN ('removal', 'links')),
  PRIMARY KEY (scope_key, job_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_job_running ON bulk_job (state, job_id) WHERE state = 'running';
CREATE INDEX bulk_job_drafts ON bulk_job (created_at, job_id) WHERE state = 'draft';
CREATE INDEX bulk_job_ended ON bulk_job (ended_at) WHERE ended_at IS NOT NULL;
CREATE TRIGGER bulk_job_number AFTER INSERT ON bulk_job
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.job_id) WHERE name = 'bulk_job';
END;

CREATE TABLE bulk_item (
  scope_key INTEGER NOT NULL,
  job_id INTEGER NOT NULL,
  line INTEGER NOT NULL,
  given TEXT NOT NULL,
  uid TEXT,
  -- The enrollment IDs that the user had at the preview, separated by spaces.
  factors TEXT NOT NULL,
  result TEXT,
  removed INTEGER NOT NULL DEFAULT 0,
  sessions INTEGER NOT NULL DEFAULT 0,
  removal_id TEXT,
  undo_until INTEGER,
  PRIMARY KEY (scope_key, job_id, line),
  FOREIGN KEY (scope_key, job_id) REFERENCES bulk_job (scope_key, job_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_item_by_result ON bulk_item (scope_key, job_id, result, line);

CREATE TABLE bulk_undo (
  scope_key INTEGER NOT NULL,
  job_id INTEGER NOT NULL,
  administrator_id TEXT NOT NULL,
  administrator_name TEXT NOT NULL,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  reason TEXT,
  note TEXT NOT NULL,
  ticket TEXT NOT NULL,
  proof TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  PRIMARY KEY (scope_key, job_id),
  FOREIGN KEY (scope_key, job_id) REFERENCES bulk_job (scope_key, job_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_undo_running ON bulk_undo (job_id) WHERE ended_at IS NULL;

CREATE TABLE approval (
  approval_id INTEGER NOT NULL,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  kind TEXT NOT NULL CHECK (kind IN ('factor', 'factors', 'job', 'policy')),
  -- The account and its name at the time; empty for a job and a policy.
  uid TEXT NOT NULL,
  user_name TEXT NOT NULL,
  -- The enrollment IDs to remove, separated by spaces; their names, one per line; and every
  -- enrollment ID that the account had, since any other set means that something has changed.
  factors TEXT NOT NULL,
  factor_names TEXT NOT NULL,
  all_factors TEXT NOT NULL,
  job_id INTEGER,
  users INTEGER NOT NULL,
  cause TEXT NOT NULL,
  requester_id TEXT NOT NULL,
  requester_name TEXT NOT NULL,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  note TEXT NOT NULL,
  ticket TEXT NOT NULL,
  proof TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'approved', 'refused', 'withdrawn', 'expired',
    'overtaken')),
  decided_at INTEGER,
  decider_id TEXT,
  decider_name TEXT,
  -- The decider's answer, or why nothing was done.
  answer TEXT,
  caller_verification TEXT,
  PRIMARY KEY (scope_key, approval_id),
  FOREIGN KEY (scope_key, job_id) REFERENCES bulk_job (scope_key, job_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX approval_waiting ON approval (approval_id) WHERE state = 'waiting';
CREATE INDEX approval_expiry ON approval (expires_at) WHERE state = 'waiting';
CREATE INDEX approval_decided ON approval (decided_at, approval_id) WHERE decided_at IS NOT NULL;
CREATE INDEX approval_of_user ON approval (scope_key, uid, approval_id);
CREATE INDEX approval_of_job ON approval (scope_key, job_id) WHERE job_id IS NOT NULL;
CREATE INDEX approval_of_policy ON approval (scope_key) WHERE kind = 'policy' AND state = 'waiting';
CREATE TRIGGER approval_number AFTER INSERT ON approval
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.approval_id) WHERE name = 'approval';
END;

CREATE TABLE approval_policy (
  scope_key INTEGER NOT NULL,
  approval_id INTEGER NOT NULL,
  policy_version INTEGER NOT NULL,
  mfa_state INTEGER,
  sms INTEGER NOT NULL,
  totp_state INTEGER,
  totp_intervals INTEGER,
  pattern TEXT,
  mandatory_from TEXT,
  enforcement TEXT,
  enforced_from TEXT,
  grace_days INTEGER,
  PRIMARY KEY (scope_key, approval_id),
  FOREIGN KEY (scope_key, approval_id) REFERENCES approval (scope_key, approval_id)
    ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Messages

CREATE TABLE outbox (
  message_id INTEGER NOT NULL,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  -- Not a reference: deleted users are sent messages.
  account_key INTEGER,
  channel TEXT NOT NULL CHECK (channel IN ('mail', 'sms')),
  purpose TEXT NOT NULL,
  recipient TEXT NOT NULL,
  language TEXT NOT NULL,
  sealed_text BLOB,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  next_try_at INTEGER,
  tries INTEGER NOT NULL DEFAULT 0,
  sent_at INTEGER,
  failed_at INTEGER,
  last_error TEXT,
  sender_name TEXT,
  reply_to TEXT,
  -- The administrator who gets a message, and the permission it's for; NULL for none.
  administrator_id TEXT,
  permission TEXT,
  -- The UID of the user whom a message to an administrator names; NULL for none.
  about_uid TEXT,
  -- Whether it's sent before others: someone waits for it, such as for a code, or it's an alert.
  is_urgent INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (scope_key, message_id)
) STRICT;
CREATE INDEX outbox_by_expiry ON outbox (expires_at);
CREATE INDEX outbox_waiting ON outbox (scope_key, message_id) WHERE sealed_text IS NOT NULL;
CREATE INDEX outbox_to_wipe ON outbox (expires_at) WHERE sealed_text IS NOT NULL;
CREATE INDEX outbox_failed ON outbox (scope_key, message_id) WHERE failed_at IS NOT NULL;
CREATE INDEX outbox_by_recipient ON outbox (scope_key, recipient, message_id);
CREATE INDEX outbox_by_account ON outbox (account_key, message_id);
CREATE INDEX outbox_about ON outbox (scope_key, about_uid) WHERE about_uid IS NOT NULL;
CREATE INDEX outbox_due ON outbox (channel, is_urgent, next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX outbox_turns ON outbox (channel, is_urgent, scope_key, next_try_at)
  WHERE next_try_at IS NOT NULL;
CREATE TRIGGER outbox_number AFTER INSERT ON outbox
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.message_id) WHERE name = 'outbox';
END;

-- The audit log

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
  request_id TEXT NOT NULL,
  action_group TEXT GENERATED ALWAYS AS (substr(action, 1, instr(action, '.') - 1)) VIRTUAL,
  filed INTEGER NOT NULL DEFAULT 1,
  ticket TEXT,
  proof TEXT
) STRICT;
CREATE INDEX audit_by_object ON audit (project_id, tenant_id, object_kind, object_id, audit_id);
CREATE INDEX audit_filed_by_action ON audit (project_id, tenant_id, action_group, audit_id) WHERE
  filed = 1;
CREATE INDEX audit_filed_by_actor ON audit (project_id, tenant_id, actor_kind, actor_id, audit_id)
  WHERE filed = 1;
CREATE INDEX audit_filed_of_all_by_action ON audit (action_group, audit_id) WHERE filed = 1;
CREATE INDEX audit_filed_of_all_by_actor ON audit (actor_kind, actor_id, audit_id) WHERE filed = 1;
CREATE INDEX audit_filed_of_all_by_object ON audit (object_kind, object_id, audit_id) WHERE filed =
  1;
CREATE INDEX audit_filed_by_scope ON audit (project_id, tenant_id, audit_id) WHERE filed = 1;

CREATE TABLE audit_change (
  audit_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  field TEXT NOT NULL,
  -- A kind is NULL if the entry has no value on that side, and 'none' if the field was empty.
  old_kind TEXT,
  old_value TEXT,
  new_kind TEXT,
  new_value TEXT,
  -- Like audit.filed: whether the row is in the index for filters.
  filed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (audit_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_change_by_field ON audit_change (field, audit_id) WHERE filed = 1;

CREATE TABLE audit_link (
  sequence INTEGER PRIMARY KEY,
  audit_id INTEGER NOT NULL,
  -- A random salt of 16 bytes for each part of the entry; that of an erased part is zero.
  salts BLOB NOT NULL,
  link BLOB NOT NULL
) STRICT;

CREATE TABLE audit_head (
  sequence INTEGER PRIMARY KEY,
  signed_at INTEGER NOT NULL,
  link BLOB NOT NULL,
  key_id TEXT NOT NULL,
  signature BLOB NOT NULL
) STRICT;

CREATE TABLE audit_tombstone (
  last_sequence INTEGER PRIMARY KEY,
  first_sequence INTEGER NOT NULL,
  last_audit_id INTEGER NOT NULL,
  removed_at INTEGER NOT NULL,
  -- The links before the first and of the last removed entry.
  link_before BLOB NOT NULL,
  link_after BLOB NOT NULL,
  key_id TEXT NOT NULL,
  signature BLOB NOT NULL
) STRICT;

CREATE TABLE audit_check (
  check_id INTEGER PRIMARY KEY CHECK (check_id = 1),
  through_sequence INTEGER NOT NULL,
  -- The time of that entry.
  through_at INTEGER NOT NULL,
  checked_at INTEGER NOT NULL,
  -- The first entry that failed the check.
  failed_sequence INTEGER
) STRICT;

CREATE TABLE audit_erasure (
  audit_id INTEGER NOT NULL,
  part INTEGER NOT NULL,
  digest BLOB NOT NULL,
  erased_at INTEGER NOT NULL,
  PRIMARY KEY (audit_id, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE user_erasure (
  erasure_id INTEGER NOT NULL,
  scope_key INTEGER NOT NULL,
  requested_at INTEGER NOT NULL,
  -- The last entry of the audit log that may be about the user, and the last one that was read.
  last_entry INTEGER NOT NULL,
  read_entry INTEGER NOT NULL DEFAULT 0,
  -- The UID, addresses, phone numbers, and names, as JSON; NULL once the log is erased.
  identifiers TEXT,
  -- How many entries of the log had parts that were erased, and how many parts.
  entries INTEGER NOT NULL DEFAULT 0,
  parts INTEGER NOT NULL DEFAULT 0,
  -- When no copy of the data was left in the file either.
  finished_at INTEGER,
  PRIMARY KEY (scope_key, erasure_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_erasure_pending ON user_erasure (erasure_id) WHERE finished_at IS NULL;
CREATE TRIGGER user_erasure_number AFTER INSERT ON user_erasure
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.erasure_id) WHERE name = 'user_erasure';
END;

CREATE TABLE evidence_key (
  key_id TEXT PRIMARY KEY,
  public_key BLOB NOT NULL,
  sealed_key BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  retired_at INTEGER
) STRICT, WITHOUT ROWID;

-- Counts and alerts

-- Changes that a task adds to the counts of hours and days, many at a time.
CREATE TABLE activity_delta (
  number INTEGER NOT NULL,
  scope_key INTEGER NOT NULL,
  account_key INTEGER NOT NULL,
  hour INTEGER NOT NULL,
  -- The outcome of a code, confirmed for a near miss that a correct code followed, or deleted for an
  -- account.
  kind TEXT NOT NULL,
  -- NULL unless the code was of an authenticator app, at sign-in, and matched a near interval.
  distance INTEGER,
  -- account.reach before the change; NULL if it didn't change.
  reach TEXT,
  PRIMARY KEY (scope_key, number)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER activity_delta_number AFTER INSERT ON activity_delta
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.number) WHERE name = 'activity_delta';
END;

-- Changes of the numbers of users that a task adds to scope, and thereby to project, many at a time.
-- Readers add those that are left. Servers write at the same time, and none of these writes may wait
-- for a row that every other one changes.
CREATE TABLE count_change (
  number INTEGER NOT NULL,
  project_id TEXT NOT NULL,
  scope_key INTEGER NOT NULL,
  users INTEGER NOT NULL,
  enrolled_users INTEGER NOT NULL,
  unverified_users INTEGER NOT NULL,
  disabled_users INTEGER NOT NULL,
  totp_users INTEGER NOT NULL,
  phone_users INTEGER NOT NULL,
  locked_users INTEGER NOT NULL,
  PRIMARY KEY (scope_key, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX count_change_by_scope ON count_change (project_id, scope_key);
CREATE TRIGGER count_change_number AFTER INSERT ON count_change
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.number) WHERE name = 'count_change';
END;

CREATE TABLE activity_hour (
  scope_key INTEGER NOT NULL,
  whole INTEGER NOT NULL,
  hour INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  outside INTEGER NOT NULL,
  incorrect INTEGER NOT NULL,
  locked INTEGER NOT NULL,
  other INTEGER NOT NULL,
  PRIMARY KEY (scope_key, whole, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE enrollment_hour (
  scope_key INTEGER NOT NULL,
  whole INTEGER NOT NULL,
  hour INTEGER NOT NULL,
  users INTEGER NOT NULL,
  enrolled_users INTEGER NOT NULL,
  PRIMARY KEY (scope_key, whole, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE enrollment_mark (
  scope_key INTEGER PRIMARY KEY
) STRICT;

CREATE TABLE offset_day (
  scope_key INTEGER NOT NULL,
  day INTEGER NOT NULL,
  distance INTEGER NOT NULL,
  accepted INTEGER NOT NULL,
  -- Codes outside the window, by whether a correct code followed soon after.
  confirmed INTEGER NOT NULL,
  unconfirmed INTEGER NOT NULL,
  PRIMARY KEY (scope_key, day, distance)
) STRICT, WITHOUT ROWID;

CREATE TABLE reach_account (
  scope_key INTEGER NOT NULL,
  reach INTEGER NOT NULL,
  day INTEGER NOT NULL,
  account_key INTEGER NOT NULL,
  PRIMARY KEY (scope_key, reach, day, account_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE reach_day (
  scope_key INTEGER NOT NULL,
  day INTEGER NOT NULL,
  reach INTEGER NOT NULL,
  users INTEGER NOT NULL,
  PRIMARY KEY (scope_key, day, reach)
) STRICT, WITHOUT ROWID;

CREATE TABLE reach_users (
  scope_key INTEGER NOT NULL,
  reach INTEGER NOT NULL,
  day INTEGER NOT NULL,
  users INTEGER NOT NULL,
  PRIMARY KEY (scope_key, reach, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE alert (
  alert_id INTEGER NOT NULL,
  scope_key INTEGER NOT NULL,
  kind TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  -- The largest count so far: users, or removals in an hour.
  count INTEGER NOT NULL,
  ended_at INTEGER,
  PRIMARY KEY (scope_key, alert_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX alert_ongoing ON alert (scope_key, kind) WHERE ended_at IS NULL;
CREATE INDEX alert_by_end ON alert (ended_at) WHERE ended_at IS NOT NULL;
CREATE TRIGGER alert_number AFTER INSERT ON alert
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.alert_id) WHERE name = 'alert';
END;

-- The counts of a project

CREATE TRIGGER project_counts_tenant AFTER INSERT ON scope WHEN NEW.tenant_id <> ''
BEGIN
  UPDATE project SET tenants = tenants + 1 WHERE project_id = NEW.project_id;
END;

CREATE TRIGGER project_counts_users AFTER UPDATE OF users, enrolled_users, deleted_at ON scope
WHEN OLD.deleted_at IS NULL
BEGIN
  UPDATE project SET
    tenants = tenants - (NEW.tenant_id <> '' AND NEW.deleted_at IS NOT NULL),
    users = users - OLD.users + iif(NEW.deleted_at IS NULL, NEW.users, 0),
    enrolled_users = enrolled_users - OLD.enrolled_users
      + iif(NEW.deleted_at IS NULL, NEW.enrolled_users, 0)
  WHERE project_id = NEW.project_id;
END;

CREATE TRIGGER enrollment_marks_new_scope AFTER INSERT ON scope
BEGIN
  INSERT INTO enrollment_mark (scope_key) VALUES (NEW.scope_key) ON CONFLICT DO NOTHING;
END;

CREATE TRIGGER enrollment_marks_scope AFTER UPDATE OF users, enrolled_users, deleted_at ON scope
WHEN OLD.deleted_at IS NULL
BEGIN
  INSERT INTO enrollment_mark (scope_key) VALUES (NEW.scope_key) ON CONFLICT DO NOTHING;
END;

-- Whether tenants of a project have different policies

CREATE TRIGGER scope_stamps_new AFTER INSERT ON scope
BEGIN
  UPDATE scope SET policy_stamp = policy_stamp + 1
  WHERE project_id = NEW.project_id AND tenant_id = '';
  UPDATE scope SET has_differing = 1 - has_differing
  WHERE project_id = NEW.project_id AND tenant_id = '' AND has_differing <> (
    EXISTS (SELECT 1 FROM scope t WHERE t.project_id = NEW.project_id AND t.tenant_id <> ''
      AND t.policy_in_force < scope.policy_in_force)
    OR EXISTS (SELECT 1 FROM scope t WHERE t.project_id = NEW.project_id AND t.tenant_id <> ''
      AND t.policy_in_force > scope.policy_in_force));
END;

CREATE TRIGGER scope_stamps AFTER UPDATE OF display_name, deleted_at, mfa_state, sms, totp_state,
  totp_intervals, pattern, mandatory_from, enforcement, enforced_from, grace_days ON scope
WHEN OLD.policy_stamp = NEW.policy_stamp
BEGIN
  UPDATE scope SET policy_stamp = policy_stamp + 1
  WHERE project_id = NEW.project_id AND tenant_id = '';
END;

CREATE TRIGGER scope_differs AFTER UPDATE OF display_name, deleted_at, mfa_state, sms, totp_state,
  totp_intervals, pattern, mandatory_from, enforcement, enforced_from, grace_days ON scope
WHEN EXISTS (SELECT 1 FROM scope WHERE project_id = NEW.project_id AND tenant_id <> '')
BEGIN
  UPDATE scope SET has_differing = 1 - has_differing
  WHERE project_id = NEW.project_id AND tenant_id = '' AND has_differing <> (
    EXISTS (SELECT 1 FROM scope t WHERE t.project_id = NEW.project_id AND t.tenant_id <> ''
      AND t.policy_in_force < scope.policy_in_force)
    OR EXISTS (SELECT 1 FROM scope t WHERE t.project_id = NEW.project_id AND t.tenant_id <> ''
      AND t.policy_in_force > scope.policy_in_force));
END;

INSERT INTO instance (name, value) VALUES ('audit_filed_to', '0'), ('oldest_program', '0.3.0');
INSERT INTO key_sequence (name, last) VALUES ('activity_delta', 0), ('alert', 0), ('approval', 0),
  ('bulk_job', 0), ('count_change', 0), ('exemption', 0), ('outbox', 0), ('support_action', 0),
  ('user_erasure', 0);
