-- The indexes by which the audit log is filtered cost a change more than the change itself, so rows
-- enter them a little later, many at a time. Until then they are read by their numbers. What was
-- written before this step is filed by it.
ALTER TABLE audit ADD COLUMN filed INTEGER NOT NULL DEFAULT 1;
INSERT INTO instance (name, value)
  VALUES ('audit_filed_to', (SELECT coalesce(max(audit_id), 0) FROM audit));

DROP INDEX audit_by_action;
DROP INDEX audit_by_actor;
DROP INDEX audit_of_all_by_action;
DROP INDEX audit_of_all_by_actor;
DROP INDEX audit_of_all_by_object;
CREATE INDEX audit_filed_by_action ON audit (project_id, tenant_id, action_group, audit_id)
  WHERE filed = 1;
CREATE INDEX audit_filed_by_actor ON audit (project_id, tenant_id, actor_kind, actor_id, audit_id)
  WHERE filed = 1;
CREATE INDEX audit_filed_of_all_by_action ON audit (action_group, audit_id) WHERE filed = 1;
CREATE INDEX audit_filed_of_all_by_actor ON audit (actor_kind, actor_id, audit_id)
  WHERE filed = 1;
CREATE INDEX audit_filed_of_all_by_object ON audit (object_kind, object_id, audit_id)
  WHERE filed = 1;
