-- How an account signs in after a reported change: 0 as without a report, 1 after a reset of the password by the
-- mailbox that reported, 2 after an owner's decision. Accounts that were locked before continue to sign in.
ALTER TABLE account ADD COLUMN sign_in_lock INTEGER NOT NULL DEFAULT 0;
-- The address of the email whose link reported the change, in folded form.
ALTER TABLE account ADD COLUMN reported_mailbox TEXT;
CREATE INDEX account_by_reported_mailbox ON account (scope_key, reported_mailbox) WHERE
  reported_mailbox IS NOT NULL;
-- The address that the link went to, in folded form.
ALTER TABLE user_link ADD COLUMN address TEXT;
