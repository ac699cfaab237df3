-- The users with a suspended factor, for lists; ended suspensions come before the current ones.
CREATE INDEX account_suspended ON account (scope_key, suspended_until)
  WHERE suspended_until IS NOT NULL;
