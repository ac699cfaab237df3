-- How often the sessions of an account were ended. Seconds can't tell a session that began just
-- before a revocation from one that began just after it in the same second; this number can. A
-- session is open as long as its generation is the account's.
ALTER TABLE account ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
-- The uid of an account that was deleted, so that a refresh token of it can be told from one of the
-- account that has this uid now.
ALTER TABLE session ADD COLUMN deleted_uid TEXT;
ALTER TABLE user_link ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
-- What was ended by its time of sign-in stays ended.
UPDATE session SET generation = -1 WHERE auth_time_s < (
  SELECT a.valid_since_s FROM account a WHERE a.account_key = session.account_key);
