-- The log of a pool is filed like the other filters, so that a change writes one index less.
DROP INDEX audit_by_scope;
CREATE INDEX audit_filed_by_scope ON audit (project_id, tenant_id, audit_id) WHERE filed = 1;
