-- The log of a pool is filed like the other filters, so that a change writes one index less.
DROP INDEX audit_by_scope;
CREATE INDEX audit_filed_by_scope ON audit (project_id, tenant_id, audit_id) WHERE filed = 1;
-- The first key of a project is read with the project.
DROP INDEX api_key_by_project;
CREATE INDEX api_key_by_project ON api_key (project_id, created_at, api_key);
