-- The pool's key is part of the primary key of each table of pools' data: scope_key, or account_key, which is
-- scope_key × 2^40 plus a number in the pool. Numbers stay as they are, since addresses, the audit log, and
-- emails have them.

-- The last number of each table whose key is a pool and a number. SQLite chooses numbers only for a key of one
-- column; a trigger of the table advances the last one, so that none is used again.
CREATE TABLE key_sequence (
  name TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO key_sequence (name, last)
  SELECT 'exemption', coalesce(max(exemption_id), 0) FROM exemption
  UNION ALL SELECT 'user_note', coalesce(max(note_id), 0) FROM user_note
  UNION ALL SELECT 'scheduled_change', coalesce(max(change_id), 0) FROM scheduled_change
  UNION ALL SELECT 'alert', coalesce(max(alert_id), 0) FROM alert
  UNION ALL SELECT 'support_action', coalesce(max(action_id), 0) FROM support_action
  UNION ALL SELECT 'user_erasure', coalesce(max(erasure_id), 0) FROM user_erasure
  UNION ALL SELECT 'activity_delta', coalesce(max(number), 0) FROM activity_delta
  UNION ALL SELECT 'count_change', coalesce(max(number), 0) FROM count_change
  UNION ALL SELECT 'outbox', coalesce(max(message_id), 0) FROM outbox
  UNION ALL SELECT 'bulk_job', coalesce(max(job_id), 0) FROM bulk_job
  UNION ALL SELECT 'approval', coalesce(max(approval_id), 0) FROM approval;
UPDATE key_sequence SET last = max(last, (SELECT seq FROM sqlite_sequence s WHERE s.name = key_sequence.name))
  WHERE name IN (SELECT name FROM sqlite_sequence);

ALTER TABLE exemption RENAME TO earlier_exemption;
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
INSERT INTO exemption (exemption_id, account_key, reason, note, ticket, granted_at, grantor_id,
    grantor_name, ends_at)
  SELECT exemption_id, account_key, reason, note, ticket, granted_at, grantor_id, grantor_name, ends_at
  FROM earlier_exemption;
DROP TABLE earlier_exemption;
CREATE INDEX exemption_by_end ON exemption (ends_at, account_key);
CREATE TRIGGER exemption_number AFTER INSERT ON exemption
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.exemption_id) WHERE name = 'exemption';
END;

ALTER TABLE user_note RENAME TO earlier_user_note;
CREATE TABLE user_note (
  note_id INTEGER NOT NULL,
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  written_at INTEGER NOT NULL,
  author_name TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (account_key, note_id)
) STRICT, WITHOUT ROWID;
INSERT INTO user_note (note_id, account_key, written_at, author_name, text)
  SELECT note_id, account_key, written_at, author_name, text FROM earlier_user_note;
DROP TABLE earlier_user_note;
CREATE TRIGGER user_note_number AFTER INSERT ON user_note
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.note_id) WHERE name = 'user_note';
END;

ALTER TABLE scheduled_change RENAME TO earlier_scheduled_change;
CREATE TABLE scheduled_change (
  change_id INTEGER NOT NULL,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  -- The version that the change is based on, and the policy afterward.
  policy_version INTEGER NOT NULL,
  mfa_state INTEGER,
  sms INTEGER NOT NULL,
  totp_state INTEGER,
  totp_intervals INTEGER,
  pattern TEXT,
  mandatory_from TEXT,
  author_id TEXT NOT NULL,
  author_name TEXT NOT NULL,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  reason TEXT,
  approver_name TEXT,
  scheduled_at INTEGER NOT NULL,
  apply_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'applied', 'canceled', 'failed')),
  ended_at INTEGER,
  canceler_name TEXT,
  failure TEXT,
  enforcement TEXT,
  enforced_from TEXT,
  grace_days INTEGER,
  PRIMARY KEY (scope_key, change_id)
) STRICT, WITHOUT ROWID;
INSERT INTO scheduled_change (change_id, scope_key, policy_version, mfa_state, sms, totp_state,
    totp_intervals, pattern, mandatory_from, author_id, author_name, address, request_id, reason,
    approver_name, scheduled_at, apply_at, state, ended_at, canceler_name, failure, enforcement,
    enforced_from, grace_days)
  SELECT change_id, scope_key, policy_version, mfa_state, sms, totp_state, totp_intervals, pattern,
    mandatory_from, author_id, author_name, address, request_id, reason, approver_name, scheduled_at,
    apply_at, state, ended_at, canceler_name, failure, enforcement, enforced_from, grace_days
  FROM earlier_scheduled_change;
DROP TABLE earlier_scheduled_change;
CREATE INDEX scheduled_change_due ON scheduled_change (apply_at) WHERE state = 'waiting';
CREATE TRIGGER scheduled_change_number AFTER INSERT ON scheduled_change
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.change_id) WHERE name = 'scheduled_change';
END;

ALTER TABLE alert RENAME TO earlier_alert;
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
INSERT INTO alert (alert_id, scope_key, kind, started_at, last_seen_at, count, ended_at)
  SELECT alert_id, scope_key, kind, started_at, last_seen_at, count, ended_at FROM earlier_alert;
DROP TABLE earlier_alert;
CREATE UNIQUE INDEX alert_ongoing ON alert (scope_key, kind) WHERE ended_at IS NULL;
CREATE INDEX alert_by_end ON alert (ended_at) WHERE ended_at IS NOT NULL;
CREATE TRIGGER alert_number AFTER INSERT ON alert
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.alert_id) WHERE name = 'alert';
END;

ALTER TABLE support_action RENAME TO earlier_support_action;
CREATE TABLE support_action (
  action_id INTEGER NOT NULL,
  administrator_id TEXT NOT NULL,
  scope_key INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (scope_key, action_id)
) STRICT, WITHOUT ROWID;
INSERT INTO support_action (action_id, administrator_id, scope_key, at)
  SELECT action_id, administrator_id, scope_key, at FROM earlier_support_action;
DROP TABLE earlier_support_action;
CREATE INDEX support_action_by_agent ON support_action (administrator_id, scope_key, at);
CREATE INDEX support_action_by_age ON support_action (at);
CREATE TRIGGER support_action_number AFTER INSERT ON support_action
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.action_id) WHERE name = 'support_action';
END;

ALTER TABLE user_erasure RENAME TO earlier_user_erasure;
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
INSERT INTO user_erasure (erasure_id, scope_key, requested_at, last_entry, read_entry, identifiers, entries,
    parts, finished_at)
  SELECT erasure_id, scope_key, requested_at, last_entry, read_entry, identifiers, entries, parts,
    finished_at FROM earlier_user_erasure;
DROP TABLE earlier_user_erasure;
CREATE INDEX user_erasure_pending ON user_erasure (erasure_id) WHERE finished_at IS NULL;
CREATE TRIGGER user_erasure_number AFTER INSERT ON user_erasure
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.erasure_id) WHERE name = 'user_erasure';
END;

ALTER TABLE activity_delta RENAME TO earlier_activity_delta;
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
INSERT INTO activity_delta (number, scope_key, account_key, hour, kind, distance, reach)
  SELECT number, scope_key, account_key, hour, kind, distance, reach FROM earlier_activity_delta;
DROP TABLE earlier_activity_delta;
CREATE TRIGGER activity_delta_number AFTER INSERT ON activity_delta
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.number) WHERE name = 'activity_delta';
END;

ALTER TABLE count_change RENAME TO earlier_count_change;
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
INSERT INTO count_change (number, project_id, scope_key, users, enrolled_users, unverified_users,
    disabled_users, totp_users, phone_users, locked_users)
  SELECT number, project_id, scope_key, users, enrolled_users, unverified_users, disabled_users, totp_users,
    phone_users, locked_users FROM earlier_count_change;
DROP TABLE earlier_count_change;
CREATE INDEX count_change_by_scope ON count_change (project_id, scope_key);
CREATE TRIGGER count_change_number AFTER INSERT ON count_change
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.number) WHERE name = 'count_change';
END;

ALTER TABLE outbox RENAME TO earlier_outbox;
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
  sealed_html BLOB,
  sender_name TEXT,
  reply_to TEXT,
  PRIMARY KEY (scope_key, message_id)
) STRICT;
INSERT INTO outbox (message_id, scope_key, account_key, channel, purpose, recipient, language, sealed_text,
    created_at, expires_at, next_try_at, tries, sent_at, failed_at, last_error, sealed_html, sender_name,
    reply_to)
  SELECT message_id, scope_key, account_key, channel, purpose, recipient, language, sealed_text, created_at,
    expires_at, next_try_at, tries, sent_at, failed_at, last_error, sealed_html, sender_name, reply_to
  FROM earlier_outbox;
DROP TABLE earlier_outbox;
CREATE INDEX outbox_by_expiry ON outbox (expires_at);
CREATE INDEX outbox_waiting ON outbox (scope_key, message_id) WHERE sealed_text IS NOT NULL;
CREATE INDEX outbox_to_wipe ON outbox (expires_at) WHERE sealed_text IS NOT NULL;
CREATE INDEX outbox_failed ON outbox (scope_key, message_id) WHERE failed_at IS NOT NULL;
CREATE INDEX outbox_by_recipient ON outbox (scope_key, recipient, message_id);
CREATE INDEX outbox_by_account ON outbox (account_key, message_id);
CREATE INDEX outbox_due ON outbox (channel, next_try_at) WHERE next_try_at IS NOT NULL;
CREATE TRIGGER outbox_number AFTER INSERT ON outbox
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.message_id) WHERE name = 'outbox';
END;

ALTER TABLE oob_code RENAME TO earlier_oob_code;
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
INSERT INTO oob_code (code_digest, scope_key, account_key, kind, email, new_email, enrollment_id,
    continue_url, created_at, expires_at, used_at, link)
  SELECT code_digest, scope_key, account_key, kind, email, new_email, enrollment_id, continue_url,
    created_at, expires_at, used_at, link FROM earlier_oob_code;
DROP TABLE earlier_oob_code;
CREATE INDEX oob_code_by_digest ON oob_code (code_digest);
CREATE INDEX oob_code_by_account ON oob_code (account_key);
CREATE INDEX oob_code_by_scope ON oob_code (scope_key, created_at);
CREATE INDEX oob_code_by_expiry ON oob_code (expires_at);

ALTER TABLE user_link RENAME TO earlier_user_link;
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
INSERT INTO user_link (link_digest, account_key, kind, about, valid_since_s, failures, created_at,
    expires_at, used_at, generation)
  SELECT link_digest, account_key, kind, about, valid_since_s, failures, created_at, expires_at, used_at,
    generation FROM earlier_user_link;
DROP TABLE earlier_user_link;
CREATE INDEX user_link_by_digest ON user_link (link_digest);
CREATE INDEX user_link_by_expiry ON user_link (expires_at);

ALTER TABLE verification_code RENAME TO earlier_verification_code;
CREATE TABLE verification_code (
  session_id BLOB NOT NULL,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  session_info TEXT NOT NULL,
  PRIMARY KEY (scope_key, session_id)
) STRICT, WITHOUT ROWID;
INSERT INTO verification_code (session_id, scope_key, session_info)
  SELECT session_id, scope_key, session_info FROM earlier_verification_code;
DROP TABLE earlier_verification_code;
CREATE INDEX verification_code_by_session ON verification_code (session_id);

ALTER TABLE session RENAME TO earlier_session;
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
  PRIMARY KEY (account_key, session_id)
) STRICT, WITHOUT ROWID;
INSERT INTO session (session_id, token_digest, account_key, auth_time_s, provider, factor_kind,
    enrollment_id, created_at, last_refresh_at, claims, generation, deleted_uid)
  SELECT session_id, token_digest, account_key, auth_time_s, provider, factor_kind, enrollment_id,
    created_at, last_refresh_at, claims, generation, deleted_uid FROM earlier_session;
DROP TABLE earlier_session;
CREATE INDEX session_by_id ON session (session_id);
CREATE INDEX session_by_deleted_uid ON session (deleted_uid) WHERE deleted_uid IS NOT NULL;

ALTER TABLE ticket RENAME TO earlier_ticket;
CREATE TABLE ticket (
  -- 0 for an administrator's ticket, and for one used before this column was there.
  scope_key INTEGER NOT NULL DEFAULT 0,
  ticket_id BLOB NOT NULL,
  uses INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (scope_key, ticket_id)
) STRICT, WITHOUT ROWID;
INSERT INTO ticket (ticket_id, uses, failures)
  SELECT ticket_id, uses, failures FROM earlier_ticket;
DROP TABLE earlier_ticket;
CREATE UNIQUE INDEX ticket_by_id ON ticket (ticket_id);

-- A line, an undo, and a request have the pool of their job, and a proposed policy that of its request.
ALTER TABLE bulk_job RENAME TO earlier_bulk_job;
ALTER TABLE bulk_item RENAME TO earlier_bulk_item;
ALTER TABLE bulk_undo RENAME TO earlier_bulk_undo;
ALTER TABLE approval RENAME TO earlier_approval;
ALTER TABLE approval_policy RENAME TO earlier_approval_policy;
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
  group_id INTEGER REFERENCES bulk_group (group_id),
  PRIMARY KEY (scope_key, job_id)
) STRICT, WITHOUT ROWID;
INSERT INTO bulk_job (job_id, scope_key, state, administrator_id, administrator_name, address, request_id,
    created_at, started_at, ended_at, lines, users, factors, users_done, users_removed, factors_removed,
    sessions_ended, reason, note, ticket, proof, approver_name, ending, group_id)
  SELECT job_id, scope_key, state, administrator_id, administrator_name, address, request_id, created_at,
    started_at, ended_at, lines, users, factors, users_done, users_removed, factors_removed, sessions_ended,
    reason, note, ticket, proof, approver_name, ending, group_id FROM earlier_bulk_job;
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
INSERT INTO bulk_item (scope_key, job_id, line, given, uid, factors, result, removed, sessions, removal_id,
    undo_until)
  SELECT j.scope_key, e.job_id, e.line, e.given, e.uid, e.factors, e.result, e.removed, e.sessions,
    e.removal_id, e.undo_until
  FROM earlier_bulk_item e JOIN earlier_bulk_job j USING (job_id);
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
INSERT INTO bulk_undo (scope_key, job_id, administrator_id, administrator_name, address, request_id, reason,
    note, ticket, proof, started_at, ended_at)
  SELECT j.scope_key, e.job_id, e.administrator_id, e.administrator_name, e.address, e.request_id, e.reason,
    e.note, e.ticket, e.proof, e.started_at, e.ended_at
  FROM earlier_bulk_undo e JOIN earlier_bulk_job j USING (job_id);
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
INSERT INTO approval (approval_id, scope_key, kind, uid, user_name, factors, factor_names, all_factors,
    job_id, users, cause, requester_id, requester_name, address, request_id, reason, note, ticket, proof,
    requested_at, expires_at, state, decided_at, decider_id, decider_name, answer, caller_verification)
  SELECT approval_id, scope_key, kind, uid, user_name, factors, factor_names, all_factors, job_id, users,
    cause, requester_id, requester_name, address, request_id, reason, note, ticket, proof, requested_at,
    expires_at, state, decided_at, decider_id, decider_name, answer, caller_verification
  FROM earlier_approval;
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
  apply_at INTEGER,
  template TEXT,
  enforcement TEXT,
  enforced_from TEXT,
  grace_days INTEGER,
  PRIMARY KEY (scope_key, approval_id),
  FOREIGN KEY (scope_key, approval_id) REFERENCES approval (scope_key, approval_id)
    ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO approval_policy (scope_key, approval_id, policy_version, mfa_state, sms, totp_state,
    totp_intervals, pattern, mandatory_from, apply_at, template, enforcement, enforced_from, grace_days)
  SELECT j.scope_key, e.approval_id, e.policy_version, e.mfa_state, e.sms, e.totp_state, e.totp_intervals,
    e.pattern, e.mandatory_from, e.apply_at, e.template, e.enforcement, e.enforced_from, e.grace_days
  FROM earlier_approval_policy e JOIN earlier_approval j USING (approval_id);
DROP TABLE earlier_approval_policy;
DROP TABLE earlier_approval;
DROP TABLE earlier_bulk_undo;
DROP TABLE earlier_bulk_item;
DROP TABLE earlier_bulk_job;
CREATE INDEX bulk_job_running ON bulk_job (state, job_id) WHERE state = 'running';
CREATE INDEX bulk_job_drafts ON bulk_job (created_at, job_id) WHERE state = 'draft';
CREATE INDEX bulk_job_ended ON bulk_job (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX bulk_job_of_group ON bulk_job (group_id, job_id) WHERE group_id IS NOT NULL;
CREATE TRIGGER bulk_job_number AFTER INSERT ON bulk_job
BEGIN
  UPDATE key_sequence SET last = max(last, NEW.job_id) WHERE name = 'bulk_job';
END;
CREATE INDEX bulk_item_by_result ON bulk_item (scope_key, job_id, result, line);
CREATE INDEX bulk_undo_running ON bulk_undo (job_id) WHERE ended_at IS NULL;
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

-- A position in the outbox is a pool and a number now; what was read is read again.
UPDATE reseal SET position = '' WHERE place = 'outbox' AND done = 0;
