-- What a pool lets service tokens do to the second factors of its users.
ALTER TABLE desk_settings ADD COLUMN token_removal INTEGER NOT NULL DEFAULT 1;
-- Changes an hour of one token; none for any number.
ALTER TABLE desk_settings ADD COLUMN token_changes_per_hour INTEGER;
