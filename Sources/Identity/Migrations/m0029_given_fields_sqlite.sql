-- Which optional fields of an account somebody gave a value, a bit for each (see GivenFields). Answers
-- show a given false or empty value, and leave out one that nobody ever gave. Of accounts from before
-- nothing is known, so that theirs are left out.
ALTER TABLE account ADD COLUMN given_fields INTEGER NOT NULL DEFAULT 0;
-- Users are looked up by their first address too.
CREATE INDEX account_initial_email ON account (scope_key, initial_email)
  WHERE initial_email IS NOT NULL;
