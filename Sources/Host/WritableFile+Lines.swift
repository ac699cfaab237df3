import Glibc

extension WritableFile {
  /// Appends lines, all or none, and waits until they're on disk.
  ///
  /// A last line without an end, which a crash or a power loss cut off, is kept and ends first: it
  /// may be all there is of what it was. What a failed write has written is removed, unless the
  /// process ends before, the file can only be appended to (`chattr +a`), or its file system has no
  /// locks.
  ///
  /// - Parameters:
  ///   - lines: The lines, without line feeds.
  ///   - file: The descriptor of a file that was opened with `appends`.
  /// - Throws: ``SystemError``, also while another process locks the file.
  public static func append(_ lines: [[UInt8]], to file: Int32) throws(SystemError) {
    // Without a lock, the removal could remove another process's lines.
    let isLocked = flock(file, LOCK_EX | LOCK_NB) == 0
    guard isLocked || errno != EWOULDBLOCK else { throw .last }
    defer { if isLocked { _ = flock(file, LOCK_UN) } }
    let end = lseek(file, 0, SEEK_END)
    guard end >= 0 else { throw .last }
    var bytes: [UInt8] = []
    let lineFeed = UInt8(ascii: "\n")
    if end > 0 {
      var last: UInt8 = 0
      guard unsafe pread(file, &last, 1, end - 1) >= 0 else { throw .last }
      if last != lineFeed { bytes.append(lineFeed) }
    }
    for line in lines { bytes += line + [lineFeed] }
    do throws(SystemError) {
      try write(bytes, to: file)
      guard fsync(file) == 0 else { throw .last }
    } catch {
      if isLocked { _ = ftruncate(file, end) }
      throw error
    }
  }

  private static func write(_ bytes: [UInt8], to file: Int32) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw .last
      }
    }
  }
}
