-- Text messages sent to users of a user pool on a day (UTC): in all, as region '*', and to numbers of
-- each region; '' are numbers without one.
CREATE TABLE sms_count (
  scope_key INTEGER NOT NULL,
  day INTEGER NOT NULL,
  region TEXT NOT NULL,
  sent INTEGER NOT NULL,
  PRIMARY KEY (scope_key, day, region)
) STRICT, WITHOUT ROWID;
CREATE INDEX sms_count_by_day ON sms_count (day);
-- Emails and text messages are sent separately.
DROP INDEX outbox_due;
CREATE INDEX outbox_due ON outbox (channel, next_try_at) WHERE next_try_at IS NOT NULL;
