import Glibc

/// What tells one state of a file from another (`stat(2)`).
///
/// A replacement has another inode even if its size and time are the same, and a change of
/// permissions another time of change.
public struct FileStamp: Sendable, Equatable {
  private let device: UInt
  private let inode: UInt
  private let size: Int
  /// The times of the last modification and of the last change, in seconds and nanoseconds.
  private let times: [Int]
  /// Whether it's a regular file, rather than a folder, a pipe, or a device.
  public let isRegular: Bool

  /// Reads the stamp of a file, following links; nil if there's no file, or it can't be accessed.
  public init?(of path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    device = UInt(status.st_dev)
    inode = UInt(status.st_ino)
    size = Int(status.st_size)
    times = [
      status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
    ]
    isRegular = status.st_mode & S_IFMT == S_IFREG
  }

  /// Returns whether both are of the same file, whatever was changed in between.
  ///
  /// - Parameter other: A stamp of a file that exists, or that a process has open.
  /// - Returns: Whether their devices and inodes are the same.
  public func isSameFile(as other: FileStamp) -> Bool {
    (device, inode) == (other.device, other.inode)
  }
}
