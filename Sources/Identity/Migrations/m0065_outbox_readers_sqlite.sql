-- The administrator who gets a message, and the permission it's for; nil for none.
ALTER TABLE outbox ADD COLUMN administrator_id TEXT;
ALTER TABLE outbox ADD COLUMN permission TEXT;
-- The UID of the user whom a message to an administrator names; nil for none.
ALTER TABLE outbox ADD COLUMN about_uid TEXT;
-- Whether someone waits for the message, such as a code, unlike a notice.
ALTER TABLE outbox ADD COLUMN is_urgent INTEGER NOT NULL DEFAULT 1;
CREATE INDEX outbox_about ON outbox (scope_key, about_uid) WHERE about_uid IS NOT NULL;
DROP INDEX outbox_due;
CREATE INDEX outbox_due ON outbox (channel, is_urgent, next_try_at) WHERE next_try_at IS NOT NULL;
