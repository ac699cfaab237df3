-- The setting was for unenrolling alone, and off unless someone turned it on. It's for every change of how a
-- user signs in now, and on.
UPDATE scope SET withdrawal_needs_factor = 1 WHERE withdrawal_needs_factor = 0;
