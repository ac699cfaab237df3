-- Standard terms for tables, columns, and stored values.
ALTER TABLE factor RENAME COLUMN enrolment_id TO enrollment_id;
ALTER TABLE session RENAME COLUMN enrolment_id TO enrollment_id;
ALTER TABLE oob_code RENAME COLUMN enrolment_id TO enrollment_id;
ALTER TABLE removed_factor RENAME COLUMN enrolment_id TO enrollment_id;

ALTER TABLE desk_settings RENAME TO support_rules;
ALTER TABLE support_rules RENAME COLUMN verdict_days TO code_attempt_days;
DROP INDEX desk_act_by_agent;
DROP INDEX desk_act_by_age;
ALTER TABLE desk_act RENAME TO support_action;
ALTER TABLE support_action RENAME COLUMN act_id TO action_id;
CREATE INDEX support_action_by_agent ON support_action (administrator_id, scope_key, at);
CREATE INDEX support_action_by_age ON support_action (at);
DROP INDEX desk_hold_by_scope;
ALTER TABLE desk_hold RENAME TO support_hold;
CREATE INDEX support_hold_by_scope ON support_hold (scope_key);

ALTER TABLE verdict RENAME TO code_attempt;
ALTER TABLE code_attempt RENAME COLUMN enrolment_id TO enrollment_id;
UPDATE code_attempt SET way = iif(way = 'enrolment', 'enrollment', 'phone-enrollment')
WHERE way IN ('enrolment', 'phone-enrolment');
ALTER TABLE verdict_count RENAME TO code_attempt_count;
ALTER TABLE account RENAME COLUMN last_verdict_at TO last_code_attempt_at;

DROP INDEX stand_in_by_expiry;
ALTER TABLE stand_in RENAME TO backup_code_set;
ALTER TABLE stand_in_code RENAME TO backup_code;
CREATE INDEX backup_code_set_by_expiry ON backup_code_set (expires_at)
  WHERE expires_at IS NOT NULL;

DROP INDEX token_signer_by_project;
DROP INDEX token_signer_in_force;
ALTER TABLE token_signer RENAME TO trusted_token_key;
ALTER TABLE trusted_token_key RENAME COLUMN signer_id TO trusted_token_key_id;
CREATE INDEX trusted_token_key_by_project ON trusted_token_key (project_id, created_at);
CREATE UNIQUE INDEX trusted_token_key_in_force
  ON trusted_token_key (project_id, issuer, fingerprint) WHERE revoked_at IS NULL;

CREATE TABLE user_link_next (
  link_digest BLOB PRIMARY KEY,
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
  generation INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
INSERT INTO user_link_next SELECT link_digest, account_key,
  iif(kind = 'enrolment', 'enrollment', 'reported-change'), about, valid_since_s, failures,
  created_at, expires_at, used_at, generation
FROM user_link;
DROP TABLE user_link;
ALTER TABLE user_link_next RENAME TO user_link;
CREATE INDEX user_link_by_account ON user_link (account_key);
CREATE INDEX user_link_by_expiry ON user_link (expires_at);

UPDATE outbox SET purpose = replace(purpose, 'enrolment', 'enrollment')
WHERE purpose IN ('enrolment-link', 'notice-enrolment-link', 'sms-enrolment');
UPDATE audit SET action = 'factor.enroll' WHERE action = 'factor.enrol';
UPDATE audit SET action = 'administrator.enroll' WHERE action = 'administrator.enrol';
UPDATE audit SET action = 'support' || substr(action, 5)
WHERE action IN ('desk.change', 'desk.hold', 'desk.release', 'desk.step-up');
