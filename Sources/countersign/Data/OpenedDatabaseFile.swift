import Host

/// The database file that the server has open, and where it was opened.
///
/// A process can write a file that was deleted or moved; nobody else sees what it writes, and with
/// the process the file is gone.
struct OpenedDatabaseFile: Sendable {
  let path: String
  private let opened: FileStamp

  /// Remembers the file of a database that was just opened; nil for a database on a server.
  init?(_ folder: DataFolder) {
    guard !folder.isOnServer, let stamp = FileStamp(of: folder.database) else { return nil }
    (path, opened) = (folder.database, stamp)
  }

  var isInPlace: Bool { FileStamp(of: path)?.isSameFile(as: opened) == true }
}
