import CSQLite
public import Database
import Dispatch
import Glibc
import Host

/// A copy of a database in progress.
struct Backup: Sendable {
  let source: SessionOptions
  let path: String
  /// Whether the copy gets its name; otherwise, it's removed after it was examined.
  let isKept: Bool

  /// Creates the copy on a dedicated thread; `verify` examines it before it gets its name.
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

/// The file that a backup is written to before it gets its name.
///
/// Its name is always the same, so that the next backup to the same place removes what an
/// interrupted one left. The process that writes it holds a lock on it.
struct BackupDraft {
  let path: String
  private let file: Int32

  /// Creates the file with mode 600.
  ///
  /// The file belongs to the owner of its folder (`FolderOwner`) if that user owns the database as
  /// well, and so can read all of it: another folder's owner may not.
  ///
  /// - Throws: `DatabaseError`: `.busy` when another process is writing it.
  init(of backup: String, source: String) throws(DatabaseError) {
    path = backup + PartialFile.suffix
    file = try PartialFile.create(path)
    guard let owner = FolderOwner(of: FolderOwner.folder(of: path)),
      owner.isSameUser(as: FolderOwner(of: source))
    else { return }
    do throws(SystemError) { try owner.adopt(file) } catch {
      remove()
      throw DatabaseFile.failure(error.number, path)
    }
  }

  /// Removes the file and releases the lock; must be called once.
  func remove() {
    unsafe unlink(path)
    close(file)
  }
}

/// A file that a process is writing, such as a backup or an export, before it gets its name.
///
/// The process holds a lock on it. Without one, an interrupted process left it.
public enum PartialFile {
  /// What's appended to the name that the file gets.
  public static let suffix = ".partial"

  /// Returns whether a process is writing the file; otherwise, an interrupted one left it.
  ///
  /// - Parameter path: The file.
  /// - Returns: False as well on a file system without locks.
  public static func isBeingWritten(_ path: String) -> Bool {
    let file = unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  /// How often another process may remove the new file before it's locked.
  private static let attempts = 5

  /// Creates the file with mode 600, and locks it; what an interrupted process left is removed.
  ///
  /// - Parameter path: The file.
  /// - Returns: The descriptor, which the caller closes.
  /// - Throws: `DatabaseError`: `.busy` when another process is writing it.
  public static func create(_ path: String) throws(DatabaseError) -> Int32 {
    for _ in 0..<attempts {
      let file = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if file < 0, errno == EEXIST {
        guard !isBeingWritten(path) else {
          throw DatabaseError(.busy, "another process is writing \(path)")
        }
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
          throw DatabaseFile.failure(errno, path)
        }
        continue
      }
      guard file >= 0 else { throw DatabaseFile.failure(errno, path) }
      // Not every file system has locks. Without one, no other process removes the file either,
      // except for the next backup to the same place.
      _ = flock(file, LOCK_EX)
      var status = stat()
      if unsafe fstat(file, &status) == 0, status.st_nlink > 0 { return file }
      // Another process took it for the file of an interrupted backup before it was locked.
      close(file)
    }
    throw DatabaseError(.busy, "other processes are writing \(path)")
  }
}
