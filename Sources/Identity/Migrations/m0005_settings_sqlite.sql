-- The last use of keys and tokens, to the hour, so that a call costs no write.
ALTER TABLE api_key ADD COLUMN last_used_at INTEGER;
ALTER TABLE service_token ADD COLUMN last_used_at INTEGER;

-- A deleted project or tenant is marked at once; what belonged to it goes part by part afterwards,
-- and purged_at says that nothing is left.
ALTER TABLE project ADD COLUMN deleted_at INTEGER;
ALTER TABLE scope ADD COLUMN purged_at INTEGER;
UPDATE scope SET purged_at = deleted_at WHERE deleted_at IS NOT NULL;
CREATE INDEX scope_to_purge ON scope (deleted_at)
  WHERE deleted_at IS NOT NULL AND purged_at IS NULL;

-- Counted with every change, so that the list of projects adds nothing up: those of the project
-- itself and of its tenants together.
ALTER TABLE project ADD COLUMN tenants INTEGER NOT NULL DEFAULT 0;
ALTER TABLE project ADD COLUMN users INTEGER NOT NULL DEFAULT 0;
ALTER TABLE project ADD COLUMN enrolled_users INTEGER NOT NULL DEFAULT 0;
UPDATE project SET
  tenants = (SELECT count(*) FROM scope s
    WHERE s.project_id = project.project_id AND s.tenant_id <> '' AND s.deleted_at IS NULL),
  users = (SELECT coalesce(sum(s.users), 0) FROM scope s
    WHERE s.project_id = project.project_id AND s.deleted_at IS NULL),
  enrolled_users = (SELECT coalesce(sum(s.enrolled_users), 0) FROM scope s
    WHERE s.project_id = project.project_id AND s.deleted_at IS NULL);

CREATE TRIGGER project_counts_tenant AFTER INSERT ON scope WHEN NEW.tenant_id <> ''
BEGIN
  UPDATE project SET tenants = tenants + 1 WHERE project_id = NEW.project_id;
END;

CREATE TRIGGER project_counts_users AFTER UPDATE OF users, enrolled_users, deleted_at ON scope
WHEN OLD.deleted_at IS NULL
BEGIN
  UPDATE project SET
    tenants = tenants - (NEW.tenant_id <> '' AND NEW.deleted_at IS NOT NULL),
    users = users - OLD.users + iif(NEW.deleted_at IS NULL, NEW.users, 0),
    enrolled_users = enrolled_users - OLD.enrolled_users
      + iif(NEW.deleted_at IS NULL, NEW.enrolled_users, 0)
  WHERE project_id = NEW.project_id;
END;

-- Pools that somebody should look at: a TOTP entry without a state, or enrolled users while TOTP is
-- off.
CREATE INDEX scope_wanting ON scope (project_id, tenant_id)
  WHERE deleted_at IS NULL
    AND (totp_state = 0 OR ifnull(totp_state, 1) = 1 AND enrolled_users > 0);
