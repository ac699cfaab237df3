-- Enrollment links to many users are campaigns: links for days, with reminders and the state of each user.
ALTER TABLE bulk_job DROP CONSTRAINT bulk_job_kind_check;
UPDATE bulk_job SET kind = 'campaign' WHERE kind = 'links';
ALTER TABLE bulk_job ADD CONSTRAINT bulk_job_kind_check CHECK (kind IN ('removal', 'campaign', 'sessions',
  'disabling'));
-- How long a campaign's links are valid, in seconds from its start; whether it reminds; what its emails say.
ALTER TABLE bulk_job ADD COLUMN link_seconds BIGINT;
ALTER TABLE bulk_job ADD COLUMN reminds BIGINT NOT NULL DEFAULT 0;
ALTER TABLE bulk_job ADD COLUMN sentence TEXT;
-- When there's something to do for a campaign; NULL if that's now.
ALTER TABLE bulk_job ADD COLUMN next_at BIGINT;
UPDATE bulk_job SET link_seconds = 1800 WHERE kind = 'campaign';
-- The campaign of an enrollment link, which asks for a first factor then.
ALTER TABLE user_link ADD COLUMN job_id BIGINT;
-- A user who was sent a campaign's link.
CREATE TABLE campaign_user (
  scope_key BIGINT NOT NULL,
  job_id BIGINT NOT NULL,
  account_key BIGINT NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  -- When the newest link was sent.
  sent_at BIGINT NOT NULL,
  opened_at BIGINT,
  enrolled_at BIGINT,
  -- The number of the last reminder.
  reminders BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (scope_key, job_id, account_key),
  FOREIGN KEY (scope_key, job_id) REFERENCES bulk_job (scope_key, job_id) ON DELETE CASCADE
);
CREATE INDEX campaign_user_by_account ON campaign_user (account_key, job_id);
INSERT INTO campaign_user (scope_key, job_id, account_key, sent_at, enrolled_at)
SELECT i.scope_key, i.job_id, a.account_key, j.started_at,
  (SELECT min(f.enrolled_at) FROM factor f
    WHERE f.account_key = a.account_key AND f.enrolled_at >= j.started_at)
FROM bulk_job j JOIN bulk_item i USING (scope_key, job_id)
  JOIN account a ON a.scope_key = i.scope_key AND a.uid = i.uid
WHERE j.kind = 'campaign' AND j.started_at IS NOT NULL AND i.result = 'sent';
