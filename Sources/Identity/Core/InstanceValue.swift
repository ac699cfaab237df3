import Database

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
