import Database
import JSON
import Text

/// A value of the whole server, such as a setting or the progress of a task.
struct InstanceValue: Sendable {
  /// The name in the table `instance`.
  let name: String

  init(_ name: String) { self.name = name }

  func read(_ connection: borrowing Connection) throws -> String? {
    try connection.first("SELECT value FROM instance WHERE name = \(name)") { try $0.next() }
  }

  func readNumber(_ connection: borrowing Connection) throws -> Int64? {
    try read(connection).flatMap { Int64($0) }
  }

  /// Stores the value; nil deletes it.
  func store(_ value: String?, _ connection: borrowing Connection) throws {
    guard let value else {
      try connection.run("DELETE FROM instance WHERE name = \(name)")
      return
    }
    try connection.run(
      """
      INSERT INTO instance (name, value) VALUES (\(name), \(value))
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      """)
  }
}

/// A stable code with values, as one column stores it: a JSON array of texts.
///
/// Text that earlier versions stored in such a column isn't an array and is read as nil.
struct StoredCode: Equatable {
  let code: String
  let values: [String]

  init(_ code: String, _ values: [String] = []) {
    (self.code, self.values) = (code, values)
  }

  init?(_ stored: String) {
    guard let json = try? JSON.parse(Array(stored.utf8)), let array = json.arrayValue else {
      return nil
    }
    let texts = array.compactMap { $0.textValue?.text }
    guard texts.count == array.count, let code = texts.first else { return nil }
    self.init(code, Array(texts.dropFirst()))
  }

  var text: String {
    let json = JSON.array(([code] + values).map { JSON.string($0) })
    return String(decoding: json.serialized(), as: UTF8.self)
  }
}

/// When the database was last restored from a backup.
///
/// Sealed data that clients hold, such as pending credentials, outlives a restore, but the record
/// of its use doesn't. So anything issued before the restore is invalid.
enum RestoreMark {
  private static let value = InstanceValue("restored_at")

  static func set(_ now: Instant, _ connection: borrowing Connection) throws {
    try value.store(String(now.microseconds), connection)
  }

  /// Replaces a time in the future, from a clock that was ahead, with the present one, so that what's
  /// issued from now on is valid.
  static func limit(to now: Instant, _ connection: borrowing Connection) throws {
    guard let microseconds = try value.readNumber(connection),
      Instant(microseconds: microseconds).isInFuture(at: now)
    else { return }
    try set(now, connection)
  }

  /// Returns whether something was issued before the last restore.
  static func ends(_ issuedAt: Instant, _ connection: borrowing Connection) throws -> Bool {
    guard let microseconds = try value.readNumber(connection) else { return false }
    return issuedAt.microseconds <= microseconds
  }
}
