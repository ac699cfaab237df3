-- Counted with every change, as users and enrolled_users are.
ALTER TABLE scope ADD COLUMN unverified_users INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN disabled_users INTEGER NOT NULL DEFAULT 0;
UPDATE scope SET
  unverified_users = (SELECT count(*) FROM account a WHERE a.scope_key = scope.scope_key
    AND a.email IS NOT NULL AND a.email_verified = 0),
  disabled_users = (SELECT count(*) FROM account a WHERE a.scope_key = scope.scope_key
    AND a.disabled = 1);

-- The folded display name, by which lists are sorted.
ALTER TABLE account ADD COLUMN name_folded TEXT;
-- 1 with a phone as second factor, as has_totp is.
ALTER TABLE account ADD COLUMN has_phone INTEGER NOT NULL DEFAULT 0;
-- The day of the last sign-in, in days since 1970, by which lists are sorted; 0 for never. A moment
-- would cost every sign-in a change of the indexes, a day only the first one.
ALTER TABLE account ADD COLUMN last_login_day INTEGER NOT NULL DEFAULT 0;
UPDATE account SET last_login_day = last_login_at / 86400000000 WHERE last_login_at IS NOT NULL;

-- A list has an order and a filter, and reads an index that has both. A blob is behind every text.
CREATE INDEX account_list_by_email ON account (scope_key, has_totp, ifnull(email_folded, x'FF'));
CREATE INDEX account_list_by_name ON account (scope_key, has_totp, ifnull(name_folded, x'FF'));
CREATE INDEX account_list_by_login ON account (scope_key, has_totp, last_login_day);
CREATE INDEX account_phone ON account (scope_key) WHERE has_phone = 1;
CREATE INDEX account_phone_by_email ON account (scope_key, ifnull(email_folded, x'FF'))
  WHERE has_phone = 1;
CREATE INDEX account_phone_by_name ON account (scope_key, ifnull(name_folded, x'FF'))
  WHERE has_phone = 1;
CREATE INDEX account_phone_by_login ON account (scope_key, last_login_day)
  WHERE has_phone = 1;
CREATE INDEX account_disabled ON account (scope_key) WHERE disabled = 1;
CREATE INDEX account_disabled_by_email ON account (scope_key, ifnull(email_folded, x'FF'))
  WHERE disabled = 1;
CREATE INDEX account_disabled_by_name ON account (scope_key, ifnull(name_folded, x'FF'))
  WHERE disabled = 1;
CREATE INDEX account_disabled_by_login ON account (scope_key, last_login_day)
  WHERE disabled = 1;
CREATE INDEX account_unverified ON account (scope_key)
  WHERE email_folded IS NOT NULL AND email_verified = 0;
CREATE INDEX account_unverified_by_email ON account (scope_key, ifnull(email_folded, x'FF'))
  WHERE email_folded IS NOT NULL AND email_verified = 0;
CREATE INDEX account_unverified_by_name ON account (scope_key, ifnull(name_folded, x'FF'))
  WHERE email_folded IS NOT NULL AND email_verified = 0;
CREATE INDEX account_unverified_by_login ON account (scope_key, last_login_day)
  WHERE email_folded IS NOT NULL AND email_verified = 0;

-- What of an account is searched, without case, accents and width: the lines are e-mail, name,
-- phone, uid, enrolment ids. Not written by triggers, since folding is not SQLite's to do.
CREATE TABLE account_text (
  account_key INTEGER PRIMARY KEY,
  folded TEXT NOT NULL
) STRICT;
-- Finds three characters and more in any place.
CREATE VIRTUAL TABLE account_search USING fts5 (
  folded, content = 'account_text', content_rowid = 'account_key',
  tokenize = 'trigram case_sensitive 1'
);
-- Finds one and two characters at the beginning of a word.
CREATE TABLE account_beginning (
  beginning TEXT NOT NULL,
  account_key INTEGER NOT NULL,
  PRIMARY KEY (beginning, account_key)
) STRICT, WITHOUT ROWID;
