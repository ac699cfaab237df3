import FoundationEssentials
import Glibc

/// Reads files, and keeps the reason why one can't be read.
public enum ReadableFile {
  /// Reads a file or a pipe.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - most: How many bytes to read at most.
  /// - Returns: The content, or its beginning.
  /// - Throws: ``SystemError``.
  public static func contents(
    _ path: String, atMost most: Int = .max
  ) throws(SystemError) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .last }
    defer { close(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count < most {
      let count = unsafe read(file, &part, min(part.count, most - bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .last }
      guard count > 0 else { break }
      bytes += part[..<count]
    }
    return bytes
  }

  /// Reads a text file or a pipe, without the byte order mark that some editors begin a file with.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - most: How many bytes to read at most, with the mark.
  /// - Returns: The content, or its beginning.
  /// - Throws: ``SystemError``.
  public static func text(_ path: String, atMost most: Int = .max) throws(SystemError) -> [UInt8] {
    let bytes = try contents(path, atMost: most)
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    return bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
  }

  /// Lists the files and folders in a folder and its subfolders.
  ///
  /// - Parameter folder: The path of the folder.
  /// - Returns: Their paths, relative to the folder, sorted.
  /// - Throws: ``UnreadableFolder`` for the folder, or the subfolder, that can't be read.
  public static func paths(in folder: String) throws(UnreadableFolder) -> [String] {
    // Foundation lists a file as an empty folder.
    guard FileStamp(of: folder)?.isRegular != true else {
      throw UnreadableFolder(path: folder, reason: SystemError(ENOTDIR))
    }
    do { return try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() } catch {
      let error = error as? CocoaError
      let cause = error?.underlying as? POSIXError
      throw UnreadableFolder(
        path: error?.filePath ?? folder, reason: SystemError(cause?.code.rawValue ?? EIO))
    }
  }
}

/// A folder whose files can't be listed.
public struct UnreadableFolder: Error, Sendable, Equatable {
  /// The path of the folder.
  public let path: String
  /// Why it can't be read.
  public let reason: SystemError
}
