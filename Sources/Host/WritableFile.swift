import Glibc

/// Opens files for reading and writing.
public enum WritableFile {
  /// Opens a file, which is created with these permissions, whatever the umask is, if it's missing.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - permissions: The permissions of a new file.
  ///   - appends: Whether several processes append to the file without overwriting each other's
  ///     data (`open(2)`, `O_APPEND`).
  ///   - isFolders: Whether a new file belongs to the owner of its folder; see ``FolderOwner``.
  /// - Returns: The descriptor, which the caller closes.
  /// - Throws: ``SystemError``.
  public static func open(
    _ path: String, permissions: UInt32, appends: Bool = false, isFolders: Bool = false
  ) throws(SystemError) -> Int32 {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | (appends ? O_APPEND : 0)
    do throws(SystemError) {
      return try create(path, flags, permissions, isFolders: isFolders)
    } catch {
      guard error.number == EEXIST else { throw error }
    }
    let file = unsafe Glibc.open(path, flags, permissions)
    guard file >= 0 else { throw .last }
    return file
  }

  /// Creates a file with mode 600 that belongs to the owner of its folder (``FolderOwner``).
  ///
  /// - Returns: The descriptor, which the caller closes.
  /// - Throws: ``SystemError``; `EEXIST` if the name exists.
  public static func create(_ path: String) throws(SystemError) -> Int32 {
    try create(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600, isFolders: true)
  }

  private static func create(
    _ path: String, _ flags: Int32, _ permissions: UInt32, isFolders: Bool
  ) throws(SystemError) -> Int32 {
    let file = unsafe Glibc.open(path, flags | O_EXCL, permissions)
    guard file >= 0 else { throw .last }
    _ = fchmod(file, permissions)
    guard isFolders else { return file }
    do throws(SystemError) { try FolderOwner.adopt(file, at: path) } catch {
      close(file)
      _ = unsafe unlink(path)
      throw error
    }
    return file
  }

  /// Returns whether no name leads to an open file any longer, so that what's written to it is lost.
  public static func isDeleted(_ file: Int32) -> Bool {
    var status = stat()
    return unsafe fstat(file, &status) == 0 && status.st_nlink == 0
  }

  /// Returns why a file can't be written, or no files created in a folder; nil if they can.
  public static func obstacle(_ path: String) -> SystemError? {
    unsafe faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? nil : .last
  }

  /// Replaces a file's contents, with mode 600; the file belongs to the owner of its folder
  /// (``FolderOwner``).
  ///
  /// A link is replaced itself.
  ///
  /// The contents are written to another file, which is then renamed, so that the file always has
  /// the old or the new ones, and the new ones survive a power failure afterwards.
  ///
  /// - Throws: ``SystemError``, after which nothing of the contents is left in the other file.
  public static func replace(_ path: String, with bytes: [UInt8]) throws(SystemError) {
    let new = path + ".new"
    _ = unsafe unlink(new)
    let file = try create(new)
    do throws(SystemError) {
      do throws(SystemError) {
        let written = unsafe write(file, bytes, bytes.count)
        guard written >= 0 else { throw .last }
        // A full disk ends a write early, without an error.
        guard written == bytes.count else { throw SystemError(ENOSPC) }
        guard fsync(file) == 0 else { throw .last }
      } catch {
        close(file)
        throw error
      }
      close(file)
      guard unsafe rename(new, path) == 0 else { throw .last }
    } catch {
      _ = unsafe unlink(new)
      throw error
    }
    syncFolder(of: path)
  }

  /// Syncs the folder, so that the renamed file survives a power failure.
  private static func syncFolder(of path: String) {
    let folder = unsafe Glibc.open(
      FolderOwner.folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }
}
