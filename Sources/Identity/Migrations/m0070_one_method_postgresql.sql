-- One method of RFC 8176, such as otp, is no second factor any more, unless an owner chose it. A list that
-- equals the former default is the default; the server tells the owners, and doctor the operators.
INSERT INTO instance (name, value)
SELECT 'former_mfa_values', 'new' FROM sign_in_provider
WHERE provider_id = 1 AND mfa_values = '["mfa","hwk","otp"]';

UPDATE sign_in_provider SET mfa_values = '["mfa"]'
WHERE provider_id = 1 AND mfa_values = '["mfa","hwk","otp"]';
