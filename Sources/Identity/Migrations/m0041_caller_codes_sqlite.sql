-- Codes that users read to a support agent who is on the phone with them, sent to their email
-- addresses. A new code replaces the agent's former one for the account.
CREATE TABLE caller_code (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  administrator_id TEXT NOT NULL,
  -- A code is invalid once the account's address is a different one.
  email TEXT NOT NULL,
  -- The key of the HMAC that is stored in place of the code.
  digest_key BLOB NOT NULL,
  code_digest BLOB NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  sent_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (account_key, administrator_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX caller_code_by_expiry ON caller_code (expires_at);

-- off, offered, or required.
ALTER TABLE support_rules ADD COLUMN caller_verification TEXT NOT NULL DEFAULT 'off';
-- How the requester verified the caller; NULL if they didn't.
ALTER TABLE approval ADD COLUMN caller_verification TEXT;
