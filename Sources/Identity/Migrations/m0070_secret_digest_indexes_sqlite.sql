-- Separate from the new column, whose transaction locks the table, also for readers.
CREATE INDEX factor_by_secret ON factor (secret_digest, account_key) WHERE secret_digest IS NOT NULL;
CREATE INDEX factor_without_digest ON factor (account_key)
  WHERE sealed_secret IS NOT NULL AND secret_digest IS NULL;
