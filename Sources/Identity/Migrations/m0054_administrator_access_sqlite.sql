-- When a role ends by itself; whether its holder has been told so a week before.
ALTER TABLE administrator_grant ADD COLUMN ends_at INTEGER;
ALTER TABLE administrator_grant ADD COLUMN is_reminded INTEGER NOT NULL DEFAULT 0;
CREATE INDEX administrator_grant_ending ON administrator_grant (ends_at) WHERE ends_at IS NOT NULL;
ALTER TABLE invitation ADD COLUMN grant_ends_at INTEGER;
