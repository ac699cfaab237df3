-- Whether a recovery code or a temporary code stood in for the second factor.
ALTER TABLE session ADD COLUMN used_backup_code BIGINT NOT NULL DEFAULT 0;
