import Glibc

/// The owner of a folder, to whom the files belong that root creates in it.
///
/// A server that doesn't run as root couldn't read them otherwise.
public struct FolderOwner: Sendable {
  private let user: uid_t
  private let group: gid_t

  /// Reads the owner of a file or a folder, following links; nil if it can't be accessed.
  public init?(of path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    (user, group) = (status.st_uid, status.st_gid)
  }

  /// Returns whether another file or folder belongs to the same user, whatever its group; false if
  /// it can't be accessed.
  public func isSameUser(as other: FolderOwner?) -> Bool { user == other?.user }

  /// Gives a new file to the owner and the group of its folder, if this process runs as root and
  /// the folder belongs to another user.
  ///
  /// Call it before the file gets its name, or has content.
  ///
  /// - Parameters:
  ///   - file: The descriptor of the file or folder, which this process just created.
  ///   - path: Its path.
  /// - Throws: ``SystemError``.
  public static func adopt(_ file: Int32, at path: String) throws(SystemError) {
    guard geteuid() == 0 else { return }
    guard let owner = FolderOwner(of: folder(of: path)) else { throw .last }
    try owner.adopt(file)
  }

  /// Does the same with a file or a folder that was created with its path; links aren't followed.
  public static func adopt(path: String) throws(SystemError) {
    guard geteuid() == 0 else { return }
    let file = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { throw .last }
    defer { close(file) }
    try adopt(file, at: path)
  }

  /// Gives a new file to this owner, if this process runs as root and the owner is another user.
  ///
  /// - Throws: ``SystemError``; `EPERM` if the file has several names.
  public func adopt(_ file: Int32) throws(SystemError) {
    guard geteuid() == 0, user != 0 else { return }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw .last }
    // Some file systems have one owner for all files, and refuse to change it.
    guard (status.st_uid, status.st_gid) != (user, group) else { return }
    // A file with another name may be one of root's, to which the owner linked.
    guard status.st_mode & S_IFMT == S_IFDIR || status.st_nlink == 1 else {
      throw SystemError(EPERM)
    }
    guard fchown(file, user, group) == 0 else { throw .last }
  }

  /// Returns the path of the folder that a file is in.
  public static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
  }
}
