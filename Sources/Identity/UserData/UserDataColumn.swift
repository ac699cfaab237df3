import Database
import JSON

/// A column of a table with data of users, as it's exported.
package struct UserDataColumn: Sendable {
  package enum Kind: String, Sendable {
    case text
    case number
    /// True or false, stored as 1 or 0.
    case flag
    /// A time in RFC 3339 format, stored in microseconds.
    case time
    /// A time in RFC 3339 format, stored in seconds.
    case seconds
    case lines
    /// Whether there is a value, which is a secret.
    case presence
  }

  /// The column's name in the database.
  package let column: String
  /// The member's name in the file.
  package let name: String
  package let kind: Kind
  let sql: SQL

  private init(_ sql: SQL, _ kind: Kind, as name: String?) {
    (self.sql, self.kind) = (sql, kind)
    column = sql.text
    self.name = name ?? Self.member(sql.text)
  }

  static func text(_ sql: SQL, as name: String? = nil) -> Self { Self(sql, .text, as: name) }
  static func number(_ sql: SQL, as name: String? = nil) -> Self { Self(sql, .number, as: name) }
  static func flag(_ sql: SQL, as name: String? = nil) -> Self { Self(sql, .flag, as: name) }
  static func time(_ sql: SQL, as name: String? = nil) -> Self { Self(sql, .time, as: name) }
  static func seconds(_ sql: SQL, as name: String? = nil) -> Self { Self(sql, .seconds, as: name) }
  static func lines(_ sql: SQL, as name: String? = nil) -> Self { Self(sql, .lines, as: name) }
  static func presence(_ sql: SQL, as name: String) -> Self { Self(sql, .presence, as: name) }

  /// Returns the name of a column as the name of a member: `sent_at` is `sentAt`.
  private static func member(_ column: String) -> String {
    let words = column.split(separator: "_").filter { $0 != "s" }
    return words.enumerated().map { index, word in
      index == 0 ? String(word) : word.prefix(1).uppercased() + word.dropFirst()
    }.joined()
  }

  func value(_ row: inout Row) throws -> JSON {
    switch kind {
    case .text: (try row.next() as String?).map { .string($0) } ?? .null
    case .number: (try row.next() as Int64?).map { .number(JSON.Number($0)) } ?? .null
    case .flag: .bool(try row.next() as Bool)
    case .time:
      (try row.next() as Instant?).map { .string($0.rfc3339Milliseconds) } ?? .null
    case .seconds:
      (try row.next() as Int64?).map { .string(Instant(seconds: $0).rfc3339Milliseconds) } ?? .null
    case .lines:
      .array(
        (try row.next() as String? ?? "").split(separator: "\n").map { .string("\($0)") })
    case .presence:
      .bool(try row.next() as SQLValue != .null)
    }
  }
}

/// Why a column of a table with data of users isn't exported.
package enum UserDataOmission: String, Sendable {
  /// A number or a position that only the database uses.
  case key
  /// A secret, or a digest of one.
  case secret
  /// Repeats another column, for an index.
  case copy
  /// Facts about an administrator: their ID, address, and requests.
  case administrator
}

/// Why a table has no data of a single user, or none that can be exported.
package enum UserDataExclusion: String, Sendable {
  /// Settings of a pool, project, or instance, and what administrators wrote about them.
  case settings
  /// Administrators, and what they do in the console.
  case administrators
  case keys
  /// Counts that name no user.
  case counts
  /// The number of an account, meaningless once the account is deleted.
  case accountNumbers
  /// An index for searches, made from the account.
  case index
  /// Entries of the audit log, exported as such, and their chain.
  case auditLog
  case server
  /// Counters of attempts, for a day.
  case counters
  /// Used or pending steps of a sign-in, encrypted or random, for minutes.
  case steps
  /// Bulk removals; what they say about a user is in their lines.
  case bulkRemovals
  /// Secrets alone.
  case secrets
}
