import Database
import DatabaseSQLite
import Dispatch
import Foundation
import TestDatabases

/// Runs a test with a new database in a folder that's deleted afterward.
func withDatabase<T>(
  readers: Int = 2, busyTimeout: Duration = .seconds(5), waitingWrites: Int = 4096,
  maximumPages: Int? = nil,
  trace: (@Sendable (String) -> Void)? = nil,
  _ body: (SQLiteDatabase) async throws -> T
) async throws -> T {
  try await withFolder { folder in
    let database = try SQLiteDatabase(
      path: folder + "/test.sqlite", readers: readers, busyTimeout: busyTimeout,
      waitingWrites: waitingWrites,
      maximumPages: maximumPages, trace: trace)
    try await database.write { connection in
      try connection.runScript(
        """
        CREATE TABLE person (
          id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, age INTEGER CHECK (age >= 0));
        CREATE TABLE pet (
          owner INTEGER NOT NULL REFERENCES person (id) DEFERRABLE INITIALLY DEFERRED,
          name TEXT NOT NULL, photo BLOB, UNIQUE (owner, name));
        """)
    }
    do {
      let result = try await body(database)
      await database.close()
      return result
    } catch {
      await database.close()
      throw error
    }
  }
}

/// Runs a test with a folder that's deleted afterward.
func withFolder<T>(_ body: (String) async throws -> T) async throws -> T {
  let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder.path)
}

/// A write that blocks the writer until it's released.
struct HeldWrite {
  let begun = Event()
  let gate = DispatchSemaphore(value: 0)
  let task: Task<Void, any Error>

  init(_ database: SQLiteDatabase, name: String = "held") {
    let (begun, gate) = (begun, gate)
    task = Task {
      try await database.write { connection in
        try connection.run("INSERT INTO person (name) VALUES (\(name))")
        begun.happen()
        gate.wait()
        gate.signal()  // for another run if the group fails
      }
    }
  }

  func release() async throws {
    gate.signal()
    try await task.value
  }
}
