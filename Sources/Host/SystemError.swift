import Glibc

/// An error of the operating system.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The number of the error (`errno(3)`).
  public let number: Int32

  /// Creates an error with its number.
  public init(_ number: Int32) { self.number = number }

  /// The error of the last call that failed on this thread.
  public static var last: SystemError { SystemError(errno) }

  /// Whether the same call can succeed later, although nobody changes the configuration: the disk
  /// is full or has errors, too many files are open, memory is short, or there are too many
  /// threads.
  public var isTemporary: Bool {
    [ENOSPC, EDQUOT, EIO, EMFILE, ENFILE, ENOMEM, EAGAIN].contains(number)
  }

  /// Whether a file or a folder on its path doesn't exist.
  public var isMissing: Bool { [ENOENT, ENOTDIR].contains(number) }

  /// The system's text, such as "No space left on device".
  public var description: String { unsafe String(cString: strerror(number)) }
}
