-- The share of sign-ins that a recommended window keeps, in hundredths of a percent.
ALTER TABLE support_rules ADD COLUMN sign_in_goal BIGINT NOT NULL DEFAULT 9990
  CHECK (sign_in_goal BETWEEN 9000 AND 10000);
