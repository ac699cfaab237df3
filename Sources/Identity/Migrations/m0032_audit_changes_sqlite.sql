-- What an entry of the audit log says of a field, one row each; the columns from_value and to_value
-- of audit hold text that earlier versions wrote.
CREATE TABLE audit_change (
  audit_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  field TEXT NOT NULL,
  -- A kind is NULL if the entry has no value on that side, and 'none' if the field was empty.
  old_kind TEXT,
  old_value TEXT,
  new_kind TEXT,
  new_value TEXT,
  -- Like audit.filed: whether the row is in the index for filters.
  filed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (audit_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_change_by_field ON audit_change (field, audit_id) WHERE filed = 1;
