-- 1 when TOTP secrets may come with imported users.
ALTER TABLE project ADD COLUMN import_totp INTEGER NOT NULL DEFAULT 0;
