import CSQLite
import Database
import Dispatch
import Glibc
import Host

/// A copy of a database in progress.
struct Backup: Sendable {
  let source: SessionOptions
  let path: String
  /// Whether the copy gets its name; otherwise, it's removed after it was examined.
  let isKept: Bool

  /// Creates the copy on a dedicated thread.
  ///
  /// - Parameter verify: Examines the complete copy before it gets its name.
  /// - Returns: What `verify` returns.
  /// - Throws: ``DatabaseError``, and what `verify` throws.
  func run<T: Sendable>(verifying verify: @Sendable (String) async throws -> T) async throws -> T {
    let draft = try await onThread { () throws(DatabaseError) in try begin() }
    defer { draft.remove() }
    try await onThread { () throws(DatabaseError) in
      try fill(draft.path)
      try sync(draft.path, O_RDWR)
    }
    let result = try await verify(draft.path)
    guard isKept else { return result }
    try await onThread { () throws(DatabaseError) in
      try publish(draft.path)
      try sync(FolderOwner.folder(of: path), O_RDONLY | O_DIRECTORY)
    }
    return result
  }

  private func onThread<T: Sendable>(
    _ body: @escaping @Sendable () throws(DatabaseError) -> T
  ) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "countersign.database.backup").async {
        continuation.resume(with: Result { try body() })
      }
    }
  }

  private func begin() throws(DatabaseError) -> BackupDraft {
    guard unsafe access(path, F_OK) != 0 else { throw DatabaseFile.failure(EEXIST, path) }
    return try BackupDraft(of: path, source: source.path)
  }

  /// Copies every page of one snapshot, so that writes don't restart the copy.
  private func fill(_ draft: String) throws(DatabaseError) {
    let session = try SQLiteSession.open(.reader, source)
    try session.perform(.begin)
    defer { session.abandon() }
    try session.ask("SELECT count(*) FROM sqlite_schema")
    var opened: OpaquePointer?
    defer { unsafe sqlite3_close_v2(opened) }
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    // Without SQLite's locks, which a network file system confuses with the lock on the draft.
    try unsafe check(
      sqlite3_open_v2(DatabaseFile.location(draft), &opened, flags, "unix-none"), opened)
    // An incomplete draft is discarded, so it needs no journal and only one sync.
    let pragmas = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"
    try unsafe check(sqlite3_exec(opened, pragmas, nil, nil, nil), opened)
    try unsafe session.withHandle { source throws(DatabaseError) in
      guard let copy = unsafe sqlite3_backup_init(opened, "main", source, "main") else {
        throw unsafe DatabaseError.sqlite(sqlite3_extended_errcode(opened), opened)
      }
      let result = unsafe sqlite3_backup_step(copy, -1)
      let end = unsafe sqlite3_backup_finish(copy)
      try unsafe check(result == SQLITE_DONE ? end : result, opened)
    }
  }

  private func check(_ result: Int32, _ handle: OpaquePointer?) throws(DatabaseError) {
    guard result != SQLITE_OK else { return }
    let error = unsafe DatabaseError.sqlite(result, handle)
    // Otherwise, it could be the disk of the database.
    guard error.code == .full else { throw error }
    throw DatabaseError(
      .full, "cannot write to \(path): \(error.message)", extendedCode: error.extendedCode)
  }

  /// Links the draft to its final name, without replacing a file created in the meantime.
  private func publish(_ draft: String) throws(DatabaseError) {
    if unsafe link(draft, path) == 0 { return }
    // Some file systems don't support hard links.
    guard [EPERM, ENOSYS, EOPNOTSUPP].contains(errno), unsafe access(path, F_OK) != 0,
      unsafe rename(draft, path) == 0
    else { throw DatabaseFile.failure(errno, path) }
  }

  private func sync(_ path: String, _ flags: Int32) throws(DatabaseError) {
    let file = unsafe Glibc.open(path, flags | O_CLOEXEC)
    guard file >= 0 else { throw DatabaseFile.failure(errno, path) }
    defer { Glibc.close(file) }
    guard fsync(file) == 0 else { throw DatabaseFile.failure(errno, path) }
  }
}
