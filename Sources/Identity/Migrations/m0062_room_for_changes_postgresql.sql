-- Pages of rows that change with each sign-in have room for their next versions. A version in another page gets an
-- entry in every index, in pages that other sign-ins read, and conflicts with them.
ALTER TABLE account SET (fillfactor = 80);
ALTER TABLE factor SET (fillfactor = 80);
ALTER TABLE throttle SET (fillfactor = 80);
