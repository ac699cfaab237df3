-- Time steps up to the last accepted one whose codes were never accepted, as ranges; without them, all
-- are used.
ALTER TABLE factor ADD COLUMN unused_steps TEXT;
ALTER TABLE removed_factor ADD COLUMN unused_steps TEXT;
ALTER TABLE administrator ADD COLUMN totp_unused_steps TEXT;

-- A code was accepted while the clock was ahead: the steps from now until an hour before it are unused.
UPDATE factor
SET unused_steps = (unixepoch() / 30 + 11) || '-' || (last_step - 120)
WHERE last_step > unixepoch() / 30 + 140;
UPDATE removed_factor
SET unused_steps = (unixepoch() / 30 + 11) || '-' || (last_step - 120)
WHERE last_step > unixepoch() / 30 + 140;
UPDATE administrator
SET totp_unused_steps = (unixepoch() / 30 + 11) || '-' || (totp_last_step - 120)
WHERE totp_last_step > unixepoch() / 30 + 140;
