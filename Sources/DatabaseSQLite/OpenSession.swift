import CSQLite
import Database
import Glibc
import Host
import Text

struct SessionOptions: Sendable {
  enum Role: Sendable { case reader, writer }

  /// How a connection can access the files of a database.
  enum Access: Sendable {
    /// Reads and changes them, and checkpoints the log when it closes.
    case readWrite
    /// Reads the database and its log without changing either, even when it closes.
    case readOnly
    /// Reads a file that doesn't change, ignoring any log next to it.
    case immutable
  }

  var path: String
  var access = Access.readWrite
  var busyTimeout: Duration
  var maximumPages: Int?
  var trace: (@Sendable (String) -> Void)?
  var damage: DamageMark?
}

extension SQLiteSession {
  /// Opens the file and configures the connection; the errors differ for a file that isn't a
  /// database, one that can't be opened, and one that can't be written.
  static func open(
    _ role: SessionOptions.Role, _ options: SessionOptions
  ) throws(DatabaseError) -> SQLiteSession {
    _ = isWithoutMemoryStatistics
    let session = unsafe SQLiteSession(
      try openHandle(options), trace: options.trace, damage: options.damage)
    try session.configure(role, options)
    return session
  }

  static func inMemory() throws(DatabaseError) -> SQLiteSession {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let result = unsafe sqlite3_open_v2(":memory:", &opened, flags, nil)
    guard result == SQLITE_OK, let handle = unsafe opened else {
      let error = unsafe DatabaseError.sqlite(result, opened)
      unsafe sqlite3_close_v2(opened)
      throw error
    }
    return unsafe SQLiteSession(handle, trace: nil, damage: nil)
  }

  /// SQLite counts its memory under a lock that all connections take for each allocation, and
  /// nothing reads the counts.
  private static let isWithoutMemoryStatistics =
    countersign_sqlite_without_memory_statistics() == SQLITE_OK

  private static func openHandle(
    _ options: SessionOptions
  ) throws(DatabaseError) -> OpaquePointer {
    let path = options.path
    var opened: OpaquePointer?
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    var location = DatabaseFile.location(path)
    switch options.access {
    case .readWrite: flags |= SQLITE_OPEN_READWRITE
    case .readOnly: flags |= SQLITE_OPEN_READONLY
    case .immutable:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      location = DatabaseFile.immutable(path)
    }
    let result = unsafe sqlite3_open_v2(location, &opened, flags, nil)
    guard result == SQLITE_OK, let handle = unsafe opened else {
      let error = unsafe DatabaseError.sqlite(result, opened)
      unsafe sqlite3_close_v2(opened)
      throw DatabaseError(
        error.code, "cannot open \(path): \(error.message)", extendedCode: result)
    }
    return unsafe handle
  }

  private func configure(
    _ role: SessionOptions.Role, _ options: SessionOptions
  ) throws(DatabaseError) {
    try unsafe withHandle { handle throws(DatabaseError) in
      for (option, value) in [
        (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        (SQLITE_DBCONFIG_ENABLE_FKEY, 1), (SQLITE_DBCONFIG_DQS_DML, 0),
        (SQLITE_DBCONFIG_DQS_DDL, 0), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
        (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, options.access == .readWrite ? 0 : 1),
      ] as [(Int32, Int32)] {
        let result = unsafe countersign_sqlite_configure(handle, option, value)
        guard result == SQLITE_OK else { throw unsafe DatabaseError.sqlite(result, handle) }
      }
      unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
      let milliseconds = min(options.busyTimeout, .seconds(3600)) / .milliseconds(1)
      unsafe sqlite3_busy_timeout(handle, Int32(milliseconds))
    }
    do throws(DatabaseError) {
      // The first read of the file, which shows whether it's a database.
      if role == .writer {
        guard try ask("PRAGMA journal_mode = WAL") == ["wal"] else {
          throw DatabaseError(.cannotOpen, "write-ahead logging isn't available")
        }
        try ask("PRAGMA journal_size_limit = 67108864")
        if let pages = options.maximumPages { try ask("PRAGMA max_page_count = \(pages)") }
        // Overwrites deleted data, which can be secret, regardless of SQLite's build options.
        try ask("PRAGMA secure_delete = ON")
      } else {
        try ask("PRAGMA query_only = ON")
      }
      try ask("PRAGMA synchronous = FULL")
      try ask("PRAGMA temp_store = MEMORY")
      try ask("PRAGMA cache_size = -8192")
      try ask("SELECT count(*) FROM sqlite_schema")
    } catch {
      throw DatabaseError(
        error.code, "cannot open \(options.path): \(error.message)",
        extendedCode: error.extendedCode)
    }
  }
}

/// The file of a database, before SQLite opens it.
enum DatabaseFile {
  /// Creates the file with mode 600 and the owner of its folder (`FolderOwner`) if it's missing,
  /// and checks that the folder is writable, for the files that SQLite creates next to it.
  static func prepare(_ path: String) throws(DatabaseError) {
    // An existing file must not be opened here: closing it would drop the locks that SQLite holds
    // on it anywhere in this process.
    // SQLite gives the files next to it to the same owner.
    do throws(SystemError) { close(try WritableFile.create(path)) } catch {
      guard error.number == EEXIST else { throw failure(error.number, path) }
    }
    for place in [FolderOwner.folder(of: path), path]
    where unsafe faccessat(AT_FDCWD, place, W_OK, AT_EACCESS) != 0 {
      throw failure(errno, place)
    }
  }

  /// Returns a path that SQLite treats as a file.
  ///
  /// SQLite reads `file:…` as a URI and `:memory:` as no file; a leading folder prevents both.
  static func location(_ path: String) -> String {
    path.hasPrefix("/") ? path : "./" + path
  }

  /// Returns the URI of a file that doesn't change.
  static func immutable(_ path: String) -> String {
    "file:" + URIComponent.encode(location(path), keeping: "/") + "?immutable=1"
  }

  /// Returns the error for a failed system call.
  static func failure(_ number: Int32, _ path: String) -> DatabaseError {
    let error = SystemError(number)
    let code: DatabaseError.Code =
      switch number {
      case EACCES, EROFS, EPERM: .readOnly
      case EEXIST: .exists
      default: DatabaseError.reason(error)
      }
    return DatabaseError(code, "cannot write to \(path): \(error)")
  }
}
