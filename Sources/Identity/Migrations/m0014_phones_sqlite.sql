-- Lists by factor have an index for each answer to "an app?" and "a phone?", so that none of them
-- passes over users of another one.
DROP INDEX account_by_totp;
DROP INDEX account_list_by_email;
DROP INDEX account_list_by_name;
DROP INDEX account_list_by_login;
CREATE INDEX account_by_factors ON account (scope_key, has_totp, has_phone);
CREATE INDEX account_list_by_email
  ON account (scope_key, has_totp, has_phone, ifnull(email_folded, x'FF'));
CREATE INDEX account_list_by_name
  ON account (scope_key, has_totp, has_phone, ifnull(name_folded, x'FF'));
CREATE INDEX account_list_by_login ON account (scope_key, has_totp, has_phone, last_login_day);

-- Of the enrolled users, those with an app and those with a phone, counted with every change; some
-- have both.
ALTER TABLE scope ADD COLUMN totp_users INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN phone_users INTEGER NOT NULL DEFAULT 0;
UPDATE scope SET totp_users = enrolled_users;

-- 1 when a phone number signs in as a first factor.
ALTER TABLE scope ADD COLUMN phone INTEGER NOT NULL DEFAULT 0;
UPDATE scope SET phone = 1
  WHERE json_extract(members, '$.signIn.phoneNumber.enabled') IS TRUE;

-- 1 when users withdraw a factor only from a session that has passed one.
ALTER TABLE scope ADD COLUMN withdrawal_needs_factor INTEGER NOT NULL DEFAULT 0;

-- Pools that somebody should look at: a TOTP entry without a state, or users with a factor of a kind
-- that is off.
DROP INDEX scope_wanting;
CREATE INDEX scope_wanting ON scope (project_id, tenant_id)
  WHERE deleted_at IS NULL
    AND (totp_state = 0 OR ifnull(totp_state, 1) = 1 AND totp_users > 0
      OR NOT (sms = 1 AND ifnull(mfa_state, 1) >= 2) AND phone_users > 0);

-- Codes that the emulator profile has made instead of sending them, each sealed in its session, for
-- tests that read them. Ids begin with the time, so the oldest are a range.
CREATE TABLE verification_code (
  session_id BLOB PRIMARY KEY,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  session_info TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX verification_code_by_scope ON verification_code (scope_key);
