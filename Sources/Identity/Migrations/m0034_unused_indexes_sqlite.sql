-- administrator_grant_by_scope begins with the same columns and serves the same statements.
DROP INDEX administrator_grant_by_place;
