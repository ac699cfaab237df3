-- What a request changes, and what the requester saw, as JSON. It's empty for an action on many users, and for
-- requests of earlier versions, whose columns and rows of approval_policy are still written for them.
ALTER TABLE approval ADD COLUMN change TEXT;
