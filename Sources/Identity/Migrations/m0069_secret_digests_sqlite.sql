-- A keyed digest of the secret, which is the same for equal secrets of a user pool; nil until the
-- server has computed it.
ALTER TABLE factor ADD COLUMN secret_digest BLOB;
