-- Whether a recovery code or a temporary code stood in for the second factor.
ALTER TABLE session ADD COLUMN used_backup_code INTEGER NOT NULL DEFAULT 0;
