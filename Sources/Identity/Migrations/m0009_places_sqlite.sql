-- Roles and invitations go with the project or tenant that they are for, and are found by it.
CREATE INDEX administrator_grant_by_place ON administrator_grant (project_id, tenant_id);
CREATE INDEX invitation_by_place ON invitation (project_id, tenant_id);
