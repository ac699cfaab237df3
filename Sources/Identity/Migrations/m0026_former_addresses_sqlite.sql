-- Addresses that an account had before, as it compares them: administrators don't act on their own
-- accounts, whatever address those have now. They go with the account.
CREATE TABLE former_address (
  account_key INTEGER NOT NULL REFERENCES account (account_key) ON DELETE CASCADE,
  -- Normalized by Mailbox.
  address TEXT NOT NULL,
  PRIMARY KEY (account_key, address)
) STRICT, WITHOUT ROWID;
-- 1 where there are some, so that they're read only then.
ALTER TABLE account ADD COLUMN has_former_addresses INTEGER NOT NULL DEFAULT 0;
