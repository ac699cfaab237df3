import Database
import Glibc
import Host

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
  /// - Parameters:
  ///   - backup: The path of the backup.
  ///   - source: The path of the database.
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
