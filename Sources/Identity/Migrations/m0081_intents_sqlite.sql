-- A change that the server of a connected project is to make: stored before it's sent, once.
CREATE TABLE intent (
  -- The number of the entry in the audit log that says it was requested.
  intent_id INTEGER PRIMARY KEY,
  scope_key INTEGER NOT NULL,
  -- Empty for a policy.
  uid TEXT NOT NULL,
  user_name TEXT NOT NULL,
  change TEXT NOT NULL,
  requester_kind TEXT NOT NULL,
  requester_id TEXT NOT NULL,
  requester_name TEXT NOT NULL,
  address TEXT NOT NULL,
  request_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  note TEXT NOT NULL,
  ticket TEXT NOT NULL,
  proof TEXT NOT NULL,
  caller_verification TEXT,
  approver_name TEXT,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'done', 'refused', 'unknown', 'lapsed')),
  -- Why it isn't done, and the remote's words.
  cause TEXT,
  cause_text TEXT,
  -- The process that sends it, and until when no other one finishes it.
  sender TEXT NOT NULL,
  sender_until INTEGER NOT NULL,
  requested_at INTEGER NOT NULL,
  sent_at INTEGER,
  -- Which sessions it ends, in seconds since 1970.
  valid_since_s INTEGER,
  ended_at INTEGER
) STRICT;
CREATE INDEX intent_open ON intent (sender_until) WHERE ended_at IS NULL;
CREATE INDEX intent_of_user ON intent (scope_key, uid, intent_id);
CREATE INDEX intent_ended ON intent (ended_at) WHERE ended_at IS NOT NULL;
-- The change that an approval led to where the pool is connected.
ALTER TABLE approval ADD COLUMN intent_id INTEGER;
