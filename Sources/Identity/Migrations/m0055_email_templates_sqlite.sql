-- The HTML part of an email whose template has one; of others it's made from the text.
ALTER TABLE outbox ADD COLUMN sealed_html BLOB;
-- The sender's name and the reply address of the template; NULL for the server's.
ALTER TABLE outbox ADD COLUMN sender_name TEXT;
ALTER TABLE outbox ADD COLUMN reply_to TEXT;

-- Email addresses of accounts that an administrator marked as bouncing; they get no email.
CREATE TABLE bounced_address (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  address TEXT NOT NULL,
  marked_at INTEGER NOT NULL,
  marked_by TEXT NOT NULL,
  PRIMARY KEY (account_key, address)
) STRICT, WITHOUT ROWID;
