-- Whether the last codes show that the clock of the user's device is off, for lists. It's set and cleared by the codes
-- that change it, and with the account's row, which they write anyway.
ALTER TABLE account ADD COLUMN clock_off INTEGER NOT NULL DEFAULT 0;
-- In place of account_suspended, since few accounts have either.
DROP INDEX account_suspended;
CREATE INDEX account_marked ON account (scope_key, suspended_until) WHERE suspended_until IS NOT NULL
  OR clock_off = 1;
