-- Codes that links in mails carry, kept by their digests. A used or late one stays for a while, so
-- that whoever opens its link once more is told what became of it.
CREATE TABLE oob_code (
  code_digest BLOB PRIMARY KEY,
  scope_key INTEGER NOT NULL REFERENCES scope (scope_key),
  -- NULL for a sign-in, whose account may not be there yet.
  account_key INTEGER REFERENCES account (account_key) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('PASSWORD_RESET', 'VERIFY_EMAIL', 'RECOVER_EMAIL',
    'EMAIL_SIGNIN', 'VERIFY_AND_CHANGE_EMAIL', 'REVERT_SECOND_FACTOR_ADDITION')),
  -- The address that the code is about, and for RECOVER_EMAIL the one to go back to.
  email TEXT NOT NULL,
  new_email TEXT,
  enrolment_id TEXT,
  continue_url TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER,
  -- The whole link, in the emulator profile only: tests of applications ask for it.
  link TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX oob_code_by_account ON oob_code (account_key);
CREATE INDEX oob_code_by_scope ON oob_code (scope_key, created_at);
CREATE INDEX oob_code_by_expiry ON oob_code (expires_at);

-- 1 when the user has signed in by a link in a mail.
ALTER TABLE account ADD COLUMN email_link INTEGER NOT NULL DEFAULT 0;
-- The first address of an account that its user has changed since.
ALTER TABLE account ADD COLUMN initial_email TEXT;
