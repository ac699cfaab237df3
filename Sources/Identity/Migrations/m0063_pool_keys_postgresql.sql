-- The pool's key is part of the primary key of each table of pools' data: scope_key, or account_key, which is
-- scope_key × 2^40 plus a number in the pool. Numbers stay as they are, since addresses, the audit log, and
-- emails have them, and the database still chooses them. (SQLite has a table and triggers for that.)

ALTER TABLE exemption DROP CONSTRAINT exemption_pkey, ADD PRIMARY KEY (account_key, exemption_id);
DROP INDEX exemption_by_account;

ALTER TABLE user_note DROP CONSTRAINT user_note_pkey, ADD PRIMARY KEY (account_key, note_id);
DROP INDEX user_note_by_account;

ALTER TABLE scheduled_change
  DROP CONSTRAINT scheduled_change_pkey, ADD PRIMARY KEY (scope_key, change_id);
DROP INDEX scheduled_change_of_scope;

ALTER TABLE alert DROP CONSTRAINT alert_pkey, ADD PRIMARY KEY (scope_key, alert_id);
DROP INDEX alert_by_scope;

ALTER TABLE support_action DROP CONSTRAINT support_action_pkey, ADD PRIMARY KEY (scope_key, action_id);

ALTER TABLE user_erasure DROP CONSTRAINT user_erasure_pkey, ADD PRIMARY KEY (scope_key, erasure_id);

ALTER TABLE activity_delta DROP CONSTRAINT activity_delta_pkey, ADD PRIMARY KEY (scope_key, number);
DROP INDEX activity_delta_by_scope;

ALTER TABLE count_change DROP CONSTRAINT count_change_pkey, ADD PRIMARY KEY (scope_key, number);

ALTER TABLE outbox DROP CONSTRAINT outbox_pkey, ADD PRIMARY KEY (scope_key, message_id);
DROP INDEX outbox_by_scope;

ALTER TABLE oob_code DROP CONSTRAINT oob_code_pkey, ADD PRIMARY KEY (scope_key, code_digest);
CREATE INDEX oob_code_by_digest ON oob_code (code_digest);

ALTER TABLE user_link DROP CONSTRAINT user_link_pkey, ADD PRIMARY KEY (account_key, link_digest);
DROP INDEX user_link_by_account;
CREATE INDEX user_link_by_digest ON user_link (link_digest);

ALTER TABLE verification_code
  DROP CONSTRAINT verification_code_pkey, ADD PRIMARY KEY (scope_key, session_id);
DROP INDEX verification_code_by_scope;
CREATE INDEX verification_code_by_session ON verification_code (session_id);

ALTER TABLE session DROP CONSTRAINT session_pkey, ADD PRIMARY KEY (account_key, session_id);
DROP INDEX session_by_account;
CREATE INDEX session_by_id ON session (session_id);

-- Whether a ticket was used is decided by its ID alone, as in nodes of an older build and in rows without a pool.
-- Deferrable, because PostgreSQL would otherwise refuse the second of two uses at the same moment for this key,
-- and not count it.
ALTER TABLE ticket ADD COLUMN scope_key BIGINT NOT NULL DEFAULT 0;
ALTER TABLE ticket DROP CONSTRAINT ticket_pkey, ADD PRIMARY KEY (scope_key, ticket_id) DEFERRABLE;
CREATE UNIQUE INDEX ticket_by_id ON ticket (ticket_id);

-- A line, an undo, and a request have the pool of their job, and a proposed policy that of its request.
ALTER TABLE approval DROP CONSTRAINT approval_job_id_fkey;
ALTER TABLE bulk_item DROP CONSTRAINT bulk_item_job_id_fkey;
ALTER TABLE bulk_undo DROP CONSTRAINT bulk_undo_job_id_fkey;
ALTER TABLE approval_policy DROP CONSTRAINT approval_policy_approval_id_fkey;

ALTER TABLE bulk_item ADD COLUMN scope_key BIGINT;
UPDATE bulk_item i SET scope_key = j.scope_key FROM bulk_job j WHERE j.job_id = i.job_id;
ALTER TABLE bulk_undo ADD COLUMN scope_key BIGINT;
UPDATE bulk_undo u SET scope_key = j.scope_key FROM bulk_job j WHERE j.job_id = u.job_id;
ALTER TABLE approval_policy ADD COLUMN scope_key BIGINT;
UPDATE approval_policy w SET scope_key = v.scope_key FROM approval v WHERE v.approval_id = w.approval_id;

ALTER TABLE bulk_job DROP CONSTRAINT bulk_job_pkey, ADD PRIMARY KEY (scope_key, job_id);
DROP INDEX bulk_job_of_scope, bulk_job_drafts;
CREATE INDEX bulk_job_drafts ON bulk_job (created_at, job_id) WHERE state = 'draft';

ALTER TABLE bulk_item
  DROP CONSTRAINT bulk_item_pkey, ADD PRIMARY KEY (scope_key, job_id, line),
  ADD FOREIGN KEY (scope_key, job_id) REFERENCES bulk_job (scope_key, job_id) ON DELETE CASCADE;
DROP INDEX bulk_item_by_result;
CREATE INDEX bulk_item_by_result ON bulk_item (scope_key, job_id, result, line);

ALTER TABLE bulk_undo
  DROP CONSTRAINT bulk_undo_pkey, ADD PRIMARY KEY (scope_key, job_id),
  ADD FOREIGN KEY (scope_key, job_id) REFERENCES bulk_job (scope_key, job_id) ON DELETE CASCADE;

ALTER TABLE approval
  DROP CONSTRAINT approval_pkey, ADD PRIMARY KEY (scope_key, approval_id),
  ADD FOREIGN KEY (scope_key, job_id) REFERENCES bulk_job (scope_key, job_id) ON DELETE CASCADE;
DROP INDEX approval_of_job;
CREATE INDEX approval_of_job ON approval (scope_key, job_id) WHERE job_id IS NOT NULL;

ALTER TABLE approval_policy
  DROP CONSTRAINT approval_policy_pkey, ADD PRIMARY KEY (scope_key, approval_id),
  ADD FOREIGN KEY (scope_key, approval_id) REFERENCES approval (scope_key, approval_id)
    ON DELETE CASCADE;

-- A position in the outbox is a pool and a number now; what was read is read again.
UPDATE reseal SET position = '' WHERE place = 'outbox' AND done = 0;
