-- Two more kinds of actions on many users: ending their sessions, and disabling them.
ALTER TABLE bulk_job DROP CONSTRAINT bulk_job_kind_check;
ALTER TABLE bulk_job ADD CONSTRAINT bulk_job_kind_check CHECK (kind IN ('removal', 'links', 'sessions',
  'disabling'));
