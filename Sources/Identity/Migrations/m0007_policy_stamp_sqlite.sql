-- Grows with everything that decides which tenants of a project differ from it, and how they are
-- called, so that what was counted once is known to be still true.
ALTER TABLE project ADD COLUMN policy_stamp INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER project_stamps_new_scope AFTER INSERT ON scope
BEGIN
  UPDATE project SET policy_stamp = policy_stamp + 1 WHERE project_id = NEW.project_id;
END;

CREATE TRIGGER project_stamps_scope AFTER UPDATE OF display_name, deleted_at, mfa_state, sms,
  totp_state, totp_intervals, pattern, mandatory_from ON scope
BEGIN
  UPDATE project SET policy_stamp = policy_stamp + 1 WHERE project_id = NEW.project_id;
END;
