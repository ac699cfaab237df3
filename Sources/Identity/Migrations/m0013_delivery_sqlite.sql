-- Mails are carried; text messages wait to be read and are never due.
UPDATE outbox SET next_try_at = NULL WHERE channel = 'sms';
-- A message has its text as long as it waits.
CREATE INDEX outbox_waiting ON outbox (scope_key, message_id) WHERE sealed_text IS NOT NULL;
CREATE INDEX outbox_to_wipe ON outbox (expires_at) WHERE sealed_text IS NOT NULL;
CREATE INDEX outbox_failed ON outbox (scope_key, message_id) WHERE failed_at IS NOT NULL;
CREATE INDEX outbox_by_recipient ON outbox (scope_key, recipient, message_id);

-- What users may not do themselves (client.permissions).
ALTER TABLE scope ADD COLUMN sign_up_off INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN deletion_off INTEGER NOT NULL DEFAULT 0;
-- What passwords must be. Classes are bits: 1 lower case, 2 upper case, 4 digits, 8 other
-- characters. password_changed_at is NULL where nobody has decided anything.
ALTER TABLE scope ADD COLUMN password_enforced INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN password_upgrade INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN password_shortest INTEGER;
ALTER TABLE scope ADD COLUMN password_longest INTEGER;
ALTER TABLE scope ADD COLUMN password_classes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE scope ADD COLUMN password_changed_at INTEGER;
-- Whether anonymous accounts go after 30 days.
ALTER TABLE scope ADD COLUMN anonymous_expire INTEGER NOT NULL DEFAULT 0;
CREATE INDEX scope_expiring ON scope (anonymous_expire) WHERE anonymous_expire = 1;
CREATE INDEX account_anonymous ON account (scope_key, created_at) WHERE anonymous = 1;

-- Until now these were kept as they came, and ruled nothing.
UPDATE scope SET
  sign_up_off = ifnull(
    json_extract(members, '$.client.permissions.disabledUserSignup') IN (1, 'true'), 0),
  deletion_off = ifnull(
    json_extract(members, '$.client.permissions.disabledUserDeletion') IN (1, 'true'), 0),
  anonymous_expire = tenant_id = ''
    AND ifnull(json_extract(members, '$.autodeleteAnonymousUsers') IN (1, 'true'), 0);
UPDATE scope SET
  password_enforced = ifnull(json_extract(
    members, '$.passwordPolicyConfig.passwordPolicyEnforcementState') IN ('ENFORCE', 2), 0),
  password_upgrade = ifnull(json_extract(
    members, '$.passwordPolicyConfig.forceUpgradeOnSignin') IN (1, 'true'), 0),
  password_shortest = min(max(CAST(json_extract(members,
    '$.passwordPolicyConfig.passwordPolicyVersions[0].customStrengthOptions.minPasswordLength')
    AS INTEGER), 6), 30),
  password_longest = min(max(CAST(json_extract(members,
    '$.passwordPolicyConfig.passwordPolicyVersions[0].customStrengthOptions.maxPasswordLength')
    AS INTEGER), 30), 4096),
  password_classes = ifnull(json_extract(members,
    '$.passwordPolicyConfig.passwordPolicyVersions[0].customStrengthOptions.containsLowercaseCharacter')
    IN (1, 'true'), 0)
    + 2 * ifnull(json_extract(members,
    '$.passwordPolicyConfig.passwordPolicyVersions[0].customStrengthOptions.containsUppercaseCharacter')
    IN (1, 'true'), 0)
    + 4 * ifnull(json_extract(members,
    '$.passwordPolicyConfig.passwordPolicyVersions[0].customStrengthOptions.containsNumericCharacter')
    IN (1, 'true'), 0)
    + 8 * ifnull(json_extract(members,
    '$.passwordPolicyConfig.passwordPolicyVersions[0].customStrengthOptions.containsNonAlphanumericCharacter')
    IN (1, 'true'), 0),
  password_changed_at = created_at
WHERE json_type(members, '$.passwordPolicyConfig') = 'object';
UPDATE scope SET members = json_remove(members, '$.passwordPolicyConfig',
  '$.client.permissions', '$.autodeleteAnonymousUsers',
  '$.notification.sendEmail.smtp.password');
-- Several accounts of one address were never made.
UPDATE project SET allow_duplicate_emails = 0;
