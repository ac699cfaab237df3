-- The users with a second factor who have no way to sign in, at most 10,000; counted every hour.
ALTER TABLE scope ADD COLUMN outside_users BIGINT NOT NULL DEFAULT 0;
CREATE INDEX scope_outside ON scope (project_id, tenant_id) WHERE outside_users > 0;
