-- Leaves the schema of m0069_baseline in a database of 0.2.0: drops the data of features that are gone.
-- Entries of the audit log about them stay.

-- A keyed digest of the secret, which is the same for equal secrets of a user pool; NULL until the server has
-- computed it.
ALTER TABLE factor ADD COLUMN secret_digest BYTEA;
CREATE INDEX factor_by_secret ON factor (secret_digest, account_key) WHERE secret_digest IS NOT NULL;
CREATE INDEX factor_without_digest ON factor (account_key)
  WHERE sealed_secret IS NOT NULL AND secret_digest IS NULL;

DROP INDEX bulk_job_of_group;
DROP INDEX console_session_by_provider;

-- A request for a change at a later time would be one for a change at once.
DELETE FROM approval WHERE state = 'waiting' AND (scope_key, approval_id) IN (
  SELECT scope_key, approval_id FROM approval_policy WHERE apply_at IS NOT NULL);
ALTER TABLE approval_policy DROP COLUMN apply_at;
ALTER TABLE approval_policy DROP COLUMN template;
ALTER TABLE bulk_job DROP COLUMN group_id;
ALTER TABLE console_session DROP COLUMN provider_session;
ALTER TABLE outbox DROP COLUMN sealed_html;
CREATE INDEX outbox_turns ON outbox (channel, is_urgent, scope_key, next_try_at)
  WHERE next_try_at IS NOT NULL;
ALTER TABLE administrator_provider_link DROP COLUMN created_at;
ALTER TABLE administrator_provider_link DROP COLUMN last_sign_in_at;
ALTER TABLE sign_in_provider DROP COLUMN created_at;
ALTER TABLE sign_in_provider DROP COLUMN changed_at;
DROP TABLE bounced_address;
DROP TABLE bulk_group_line;
DROP TABLE bulk_group;
DROP TABLE dead_letter;
DROP TABLE event_stream;
DROP TABLE policy_template;
DROP TABLE policy_template_use;
DROP TABLE report_subscription;
DROP TABLE scheduled_change;
DROP TABLE user_note;
CREATE INDEX oob_code_by_email ON oob_code (scope_key, email) WHERE account_key IS NULL;
CREATE INDEX console_session_by_provider ON console_session (provider_issuer)
  WHERE provider_issuer IS NOT NULL;

ALTER TABLE account ADD COLUMN initial_email_verified BIGINT NOT NULL DEFAULT 1;
ALTER TABLE account_provider ADD COLUMN email_verified BIGINT NOT NULL DEFAULT 1;
-- Addresses that were never verified, and got the one notice that they get.
CREATE TABLE noticed_address (
  account_key BIGINT NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  address TEXT NOT NULL,
  PRIMARY KEY (account_key, address)
);

-- The last code attempts that are left of deleted accounts, which the cleanup deletes in parts.
CREATE TABLE deleted_attempts (
  account_key BIGINT PRIMARY KEY,
  at BIGINT NOT NULL
);

-- The servers on this database, as each reports itself.
CREATE TABLE node (
  node_id TEXT PRIMARY KEY,
  -- The host, and the file or variable with the master key.
  place TEXT NOT NULL,
  -- The IDs of the master keys that it has, separated by spaces.
  master_keys TEXT NOT NULL,
  until BIGINT NOT NULL
);

-- How far the clocks of devices are off that were resynchronized.
ALTER TABLE factor ADD COLUMN clock_offset BIGINT CHECK (abs(clock_offset) <= 40);
ALTER TABLE factor ADD COLUMN clock_trend BIGINT NOT NULL DEFAULT 0;
ALTER TABLE removed_factor ADD COLUMN clock_offset BIGINT CHECK (abs(clock_offset) <= 40);
ALTER TABLE support_rules ADD COLUMN resynchronization BIGINT NOT NULL DEFAULT 0;
ALTER TABLE bulk_job ADD COLUMN kind TEXT NOT NULL DEFAULT 'removal'
  CHECK (kind IN ('removal', 'links'));

-- What an agent's start page lists across pools.
CREATE INDEX account_suspension_end ON account (suspended_until) WHERE suspended_until IS NOT NULL;
CREATE INDEX removed_factor_by_remover ON removed_factor (removed_by, until);

UPDATE instance SET value = '0.3.0' WHERE name = 'oldest_program';
