-- When the user signed in, in Unix seconds, if the session continues one that a change of theirs ended.
ALTER TABLE session ADD COLUMN signed_in_at_s INTEGER;
