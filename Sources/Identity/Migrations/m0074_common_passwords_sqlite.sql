-- Whether the most common passwords are rejected, where the password policy is enforced.
ALTER TABLE scope ADD COLUMN password_common_refused INTEGER NOT NULL DEFAULT 0;
