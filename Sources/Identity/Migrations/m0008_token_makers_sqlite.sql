-- The administrator who made a token, so that it ends when they may no longer do what it does; empty
-- for those of the command line, and for those made before this was kept.
ALTER TABLE service_token ADD COLUMN created_by_id TEXT NOT NULL DEFAULT '';
CREATE INDEX service_token_by_maker ON service_token (created_by_id) WHERE revoked_at IS NULL;
