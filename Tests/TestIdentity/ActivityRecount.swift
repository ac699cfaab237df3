import Database

/// Slow recounts of what the product counts with every write.
enum ActivityRecount {
  /// Compares the numbers and lists of users by reach with the accounts; everything is folded.
  static func reachFaults(_ database: any Database) async throws -> [String] {
    try await database.read { connection in
      try connection.all(
        """
        WITH RECURSIVE /* test */ chain (reach) AS (
          SELECT 0 UNION ALL SELECT reach + 1 FROM chain WHERE reach < 10),
        own AS (
          SELECT a.scope_key, chain.reach, CAST(substr(a.reach, 5 * chain.reach + 1, 5) AS BIGINT)
            AS day, a.account_key
          FROM account a JOIN scope s USING (scope_key) CROSS JOIN chain
          WHERE length(a.reach) > 5 * chain.reach AND s.deleted_at IS NULL),
        counted AS (SELECT scope_key, reach, day, count(*) AS users FROM own GROUP BY 1, 2, 3),
        kept AS (SELECT r.* FROM reach_users r JOIN scope s USING (scope_key)
          WHERE r.users <> 0 AND s.deleted_at IS NULL),
        listed AS (SELECT r.* FROM reach_account r JOIN scope s USING (scope_key)
          WHERE s.deleted_at IS NULL)
        SELECT 'users by reach that no account has: ' || reach FROM kept
          WHERE (scope_key, reach, day, users) NOT IN (SELECT * FROM counted)
        UNION ALL SELECT 'uncounted users by reach: ' || reach FROM counted
          WHERE (scope_key, reach, day, users) NOT IN (SELECT * FROM kept)
        UNION ALL SELECT 'listed account without the reach: ' || reach FROM listed
          WHERE (scope_key, reach, day, account_key) NOT IN (SELECT * FROM own)
        UNION ALL SELECT 'unlisted account: ' || reach FROM own
          WHERE reach > 0 AND (scope_key, reach, day, account_key) NOT IN (SELECT * FROM listed)
        """
      ) { try $0.next() as String }
    }
  }

  /// Compares the counts of code attempts with the log, for a database in which no attempt was
  /// deleted; everything is folded.
  static func countFaults(_ database: any Database) async throws -> [String] {
    try await database.read { connection in
      try connection.all(
        """
        WITH /* test */ hours AS (
          SELECT scope_key, at / 3600000000 AS hour,
            sum(CASE WHEN result IN ('accepted', 'temporary', 'recovery') THEN times ELSE 0 END)
              AS accepted,
            sum(CASE WHEN result IN ('late', 'early') THEN times ELSE 0 END) AS outside,
            sum(times) AS whole
          FROM code_attempt GROUP BY 1, 2),
        kept_hours AS (
          SELECT scope_key, hour, accepted, outside,
            accepted + outside + incorrect + locked + other AS whole
          FROM activity_hour WHERE whole = 0),
        offsets AS (
          SELECT scope_key, at / 86400000000 AS day, distance,
            count(*) FILTER (WHERE result = 'accepted') AS accepted,
            count(*) FILTER (WHERE result <> 'accepted' AND confirmed = 1) AS confirmed,
            count(*) FILTER (WHERE result <> 'accepted' AND confirmed = 0) AS unconfirmed
          FROM code_attempt
          WHERE way = 'app' AND distance IS NOT NULL AND result IN ('accepted', 'late', 'early')
          GROUP BY 1, 2, 3),
        own AS (
          SELECT scope_key, at / 86400000000 AS day, account_key, max(abs(distance)) AS reach
          FROM code_attempt
          WHERE way = 'app' AND distance IS NOT NULL
            AND (result = 'accepted' OR result IN ('late', 'early') AND confirmed = 1)
          GROUP BY 1, 2, 3),
        days AS (SELECT scope_key, day, reach, count(*) AS users FROM own GROUP BY 1, 2, 3)
        SELECT 'hour ' || hour FROM (SELECT * FROM hours EXCEPT SELECT * FROM kept_hours) AS x
        UNION ALL SELECT 'kept hour ' || hour
          FROM (SELECT * FROM kept_hours EXCEPT SELECT * FROM hours) AS x
        UNION ALL SELECT 'offset ' || distance
          FROM (SELECT * FROM offsets EXCEPT SELECT * FROM offset_day) AS x
        UNION ALL SELECT 'kept offset ' || distance
          FROM (SELECT * FROM offset_day EXCEPT SELECT * FROM offsets) AS x
        UNION ALL SELECT 'day ' || day FROM (SELECT * FROM days EXCEPT SELECT * FROM reach_day) AS x
        UNION ALL SELECT 'kept day ' || day FROM (SELECT * FROM reach_day WHERE users <> 0
          EXCEPT SELECT * FROM days) AS x
        """
      ) { try $0.next() as String }
    }
  }
}
