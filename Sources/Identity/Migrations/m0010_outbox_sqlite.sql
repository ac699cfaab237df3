-- Mails and text messages, written by the transaction that they tell of. The text is sealed, since
-- links and codes are in it, and NULL once it has gone out or run out.
CREATE TABLE outbox (
  message_id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  -- Not a reference: who was deleted is told so.
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
  last_error TEXT
) STRICT;
CREATE INDEX outbox_by_scope ON outbox (scope_key, message_id);
CREATE INDEX outbox_due ON outbox (next_try_at) WHERE next_try_at IS NOT NULL;
CREATE INDEX outbox_by_expiry ON outbox (expires_at);

-- Identities at other providers by which an account is signed in to.
CREATE TABLE account_provider (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  scope_key INTEGER NOT NULL,
  provider_id TEXT NOT NULL,
  raw_id TEXT NOT NULL,
  email TEXT,
  display_name TEXT,
  photo_url TEXT,
  PRIMARY KEY (account_key, provider_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX account_provider_by_id ON account_provider (scope_key, provider_id, raw_id);
-- 1 with such an identity; kept so that reading an account asks for them only then.
ALTER TABLE account ADD COLUMN has_providers INTEGER NOT NULL DEFAULT 0;

-- The number of a factor that is a phone.
ALTER TABLE factor ADD COLUMN phone TEXT;
