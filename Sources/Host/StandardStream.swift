import Glibc

/// One of the streams that a process starts with (`stdin(3)`).
public enum StandardStream: Int32, CaseIterable, Sendable {
  /// Standard input.
  case input = 0
  /// Standard output.
  case output = 1
  /// Standard error.
  case error = 2

  /// A write that failed.
  public struct WriteError: Error {
    /// The system's reason, such as "No space left on device".
    public let reason: String
  }

  /// Opens the streams that the parent process closed, so that neither the database nor a
  /// connection gets their file descriptors.
  ///
  /// They can be read, and are empty; they can't be written, so that output counts as lost.
  public static func openMissing() {
    for stream in allCases where fcntl(stream.rawValue, F_GETFD) == -1 && errno == EBADF {
      // The lowest free descriptor is the one that's missing.
      _ = unsafe open("/dev/null", O_RDONLY)
    }
  }

  /// Keeps standard output for one purpose: whatever else is written to it from now on goes to
  /// standard error.
  ///
  /// - Returns: The descriptor of what was standard output.
  /// - Throws: ``SystemError``.
  public static func reserveOutput() throws(SystemError) -> Int32 {
    let descriptor = fcntl(output.rawValue, F_DUPFD_CLOEXEC, error.rawValue + 1)
    guard descriptor >= 0, dup2(error.rawValue, output.rawValue) >= 0 else { throw .last }
    return descriptor
  }

  /// Writes bytes, unbuffered even when it's a pipe, and waits while its reader is slow.
  ///
  /// - Throws: ``WriteError``, for example on a full disk or after the reader ended.
  public func write(_ bytes: [UInt8]) throws(WriteError) {
    try Self.write(bytes, to: rawValue)
  }

  /// Writes bytes to a descriptor of a stream in the same way.
  ///
  /// - Throws: ``WriteError``.
  public static func write(_ bytes: [UInt8], to descriptor: Int32) throws(WriteError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if count >= 0 {
        rest = rest.dropFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        var event = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&event, 1, -1)
      case let error: throw WriteError(reason: unsafe String(cString: strerror(error)))
      }
    }
  }
}
