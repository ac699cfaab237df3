import Database
import DatabaseSQLite
import Dispatch
import Foundation
import Synchronization

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

extension SQLiteDatabase {
  func insert(_ name: String) async throws {
    try await write { try $0.run("INSERT INTO person (name) VALUES (\(name))") }
  }

  func names() async throws -> [String] {
    try await read { connection in
      try connection.all("SELECT name FROM person ORDER BY name") { try $0.next() }
    }
  }

  func count() async throws -> Int {
    try await read { try $0.first("SELECT count(*) FROM person") { try $0.next() } ?? 0 }
  }
}

/// Returns the code of the database error that a closure throws; nil if it succeeds.
func code(_ body: () async throws -> some Any) async throws -> DatabaseError.Code? {
  do {
    _ = try await body()
    return nil
  } catch let error as DatabaseError {
    return error.code
  }
}

/// A one-time event that tasks can wait for.
final class Event: Sendable {
  private let state = Mutex<(happened: Bool, waiting: [CheckedContinuation<Void, Never>])>(
    (false, []))

  func happen() {
    let waiting = state.withLock { state in
      defer { state = (true, []) }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let happened = state.withLock { state in
        if !state.happened { state.waiting.append(continuation) }
        return state.happened
      }
      if happened { continuation.resume() }
    }
  }
}

/// A thread-safe list of elements in the order they were appended.
final class Record<Element: Sendable>: Sendable {
  private let state = Mutex<[Element]>([])

  var elements: [Element] { state.withLock { $0 } }

  func append(_ element: Element) {
    state.withLock { $0.append(element) }
  }
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

/// A read on a dedicated thread that keeps its reader until it's released.
struct HeldRead {
  let begun = Event()
  let ended = Event()
  let gate = DispatchSemaphore(value: 0)

  init(
    _ database: SQLiteDatabase,
    _ body: @escaping @Sendable (borrowing Connection) throws -> Void = { _ in }
  ) {
    let (begun, ended, gate) = (begun, ended, gate)
    DispatchQueue(label: "held read").async {
      Task.immediate {
        try? await database.read { connection in
          try body(connection)
          begun.happen()
          gate.wait()
          try body(connection)
        }
        ended.happen()
      }
    }
  }

  func release() async {
    gate.signal()
    await ended.wait()
  }
}
