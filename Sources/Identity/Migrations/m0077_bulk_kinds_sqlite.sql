-- Two more kinds of actions on many users: ending their sessions, and disabling them.
ALTER TABLE bulk_job ADD COLUMN former_kind TEXT;
UPDATE bulk_job SET former_kind = kind;
ALTER TABLE bulk_job DROP COLUMN kind;
ALTER TABLE bulk_job ADD COLUMN kind TEXT NOT NULL DEFAULT 'removal' CHECK (kind IN ('removal', 'links',
  'sessions', 'disabling'));
UPDATE bulk_job SET kind = former_kind;
ALTER TABLE bulk_job DROP COLUMN former_kind;
