-- Projects whose users are at another server: a connection to it, and a copy of its pools and users in the same
-- tables. The kind never changes: hosted, identity-platform, or countersign.
ALTER TABLE project ADD COLUMN kind TEXT NOT NULL DEFAULT 'hosted';
-- NULL for a mirrored account, since addresses are unique only among hosted ones.
ALTER TABLE account ADD COLUMN hosted INTEGER DEFAULT 1;
-- A digest of what the remote said; NULL for a hosted account.
ALTER TABLE account ADD COLUMN mirror_digest INTEGER;
-- When the remote was asked for what's stored.
ALTER TABLE account ADD COLUMN asked_at INTEGER;
-- The walk that didn't see it, and since when it's gone at the remote.
ALTER TABLE account ADD COLUMN missing_in INTEGER;
ALTER TABLE account ADD COLUMN gone_at INTEGER;
ALTER TABLE account_provider ADD COLUMN hosted INTEGER DEFAULT 1;
DROP INDEX account_by_email;
CREATE UNIQUE INDEX account_by_email ON account (scope_key, email_folded, hosted) WHERE email_folded IS
  NOT NULL;
DROP INDEX account_by_phone;
CREATE UNIQUE INDEX account_by_phone ON account (scope_key, phone, hosted) WHERE phone IS NOT NULL;
DROP INDEX account_provider_by_id;
CREATE UNIQUE INDEX account_provider_by_id ON account_provider (scope_key, provider_id, raw_id, hosted);
CREATE INDEX account_missing ON account (scope_key, missing_in) WHERE missing_in IS NOT NULL;
CREATE INDEX account_gone ON account (gone_at) WHERE gone_at IS NOT NULL;
CREATE TABLE connection (
  -- One for each connected project, kept when it's disconnected.
  project_id TEXT PRIMARY KEY REFERENCES project (project_id),
  remote_project TEXT NOT NULL,
  remote_number INTEGER,
  -- Empty for Google.
  url TEXT NOT NULL,
  access TEXT NOT NULL CHECK (access IN ('read', 'support', 'policy')),
  state TEXT NOT NULL CHECK (state IN ('working', 'paused', 'failing', 'disconnected')),
  -- Why it's paused or failing, since when, and the remote's words.
  cause TEXT,
  cause_at INTEGER,
  cause_text TEXT,
  sealed_credential BLOB,
  credential_name TEXT NOT NULL,
  credential_key TEXT NOT NULL,
  credential_at INTEGER NOT NULL,
  -- Whether the header x-goog-user-project is sent.
  quota_project INTEGER NOT NULL DEFAULT 0,
  -- The permissions that the credential has and doesn't need.
  excess TEXT NOT NULL DEFAULT '[]',
  connected_at INTEGER NOT NULL,
  connected_by TEXT NOT NULL,
  policies_at INTEGER,
  -- 0 for at once.
  next_walk_at INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX connection_by_remote ON connection (url, remote_project);
-- The state of a pool's copy, and of the walk over its users.
CREATE TABLE mirror (
  scope_key INTEGER PRIMARY KEY REFERENCES scope (scope_key),
  state TEXT NOT NULL CHECK (state IN ('present', 'disabled', 'gone')),
  gone_at INTEGER,
  walk INTEGER NOT NULL DEFAULT 0,
  -- NULL while none is under way.
  started_at INTEGER,
  counted INTEGER,
  read INTEGER NOT NULL DEFAULT 0,
  position TEXT NOT NULL DEFAULT '',
  token TEXT,
  -- The walk whose users that it didn't see are gone; negative until an owner accepts it.
  accepted INTEGER,
  -- When the first walk was complete, and the last one, which took that many seconds.
  first_at INTEGER,
  walked_at INTEGER,
  seconds INTEGER,
  -- When the remote was asked for the policy that's stored, and when that last changed there.
  policy_at INTEGER,
  changed_at INTEGER
) STRICT;
-- A user who can't be stored.
CREATE TABLE mirror_fault (
  scope_key INTEGER NOT NULL,
  uid TEXT NOT NULL,
  reason TEXT NOT NULL,
  walk INTEGER NOT NULL,
  PRIMARY KEY (scope_key, uid)
) STRICT, WITHOUT ROWID;
-- Intervals of which a remote says neither 0 nor that none are set are -1. The column is made again with the check
-- for that, and so is what reads it.
DROP TRIGGER scope_stamps_new;
DROP TRIGGER scope_stamps;
DROP TRIGGER scope_differs;
DROP INDEX scope_by_policy;
ALTER TABLE scope DROP COLUMN policy_in_force;
ALTER TABLE scope ADD COLUMN former_intervals INTEGER;
UPDATE scope SET former_intervals = totp_intervals WHERE totp_intervals IS NOT NULL;
ALTER TABLE scope DROP COLUMN totp_intervals;
ALTER TABLE scope ADD COLUMN totp_intervals INTEGER
  CHECK (totp_intervals + 1 >= 0 AND totp_intervals <= 10);
UPDATE scope SET totp_intervals = former_intervals WHERE former_intervals IS NOT NULL;
ALTER TABLE scope DROP COLUMN former_intervals;
ALTER TABLE scope ADD COLUMN policy_in_force TEXT GENERATED ALWAYS AS (
  CASE WHEN deleted_at IS NULL THEN
    CASE WHEN coalesce(totp_state, 1) = 1 THEN 'off'
      ELSE CASE totp_state WHEN 3 THEN 'mandatory ' ELSE 'on ' END
        || coalesce(totp_intervals, 5)
    END
    || CASE WHEN sms = 1 AND coalesce(mfa_state, 1) >= 2 THEN ', SMS, ' ELSE ', ' END
    || coalesce(pattern, '') || ' ' || coalesce(mandatory_from, '')
    || coalesce(', ' || enforcement || ' ' || enforced_from || ' ' || grace_days, '')
  END
) VIRTUAL;
CREATE INDEX scope_by_policy ON scope (project_id, policy_in_force, tenant_id) WHERE tenant_id <>
  '';
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
-- A project that's being connected is kept for an hour.
CREATE TABLE former_storage AS SELECT * FROM console_storage;
DROP TABLE console_storage;
CREATE TABLE console_storage (
  -- A digest of the session or the administrator.
  owner_digest BLOB NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('code', 'fields', 'draft', 'connection')),
  -- A digest of the user, the address, or the browser that it's for.
  subject_digest BLOB NOT NULL,
  sealed BLOB NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (owner_digest, kind, subject_digest)
) STRICT;
INSERT INTO console_storage SELECT * FROM former_storage;
DROP TABLE former_storage;
CREATE INDEX console_storage_by_expiry ON console_storage (expires_at);
