-- Counted with every change, as users and enrolled_users are.
ALTER TABLE scope ADD COLUMN unverified_users INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN disabled_users INTEGER NOT NULL DEFAULT 0;
UPDATE scope SET
  unverified_users = (SELECT count(*) FROM account a WHERE a.scope_key = scope.scope_key
    AND a.email IS NOT NULL AND a.email_verified = 0),
  disabled_users = (SELECT count(*) FROM account a WHERE a.scope_key = scope.scope_key
    AND a.disabled = 1);
