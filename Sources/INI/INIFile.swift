import CInih

/// The settings in an INI file without sections: `name = value` lines.
///
/// Comments begin with `;` or `#` at the start of a line, or with ` ;` after a value. The file is
/// parsed line by line, since libinih doesn't report line numbers.
public struct INIFile: Sendable {
  /// A setting.
  public struct Setting: Sendable, Equatable {
    /// The line, counted from 1.
    public let line: Int
    /// The name, without surrounding white space.
    public let name: String
    /// The value, without surrounding white space; can be empty.
    public let value: String
  }

  /// What's wrong with a line.
  public enum Fault: Error, Sendable, Equatable {
    /// The line is neither a setting nor a comment.
    case notASetting
    /// The line is the heading of a section.
    case section
    /// The line is longer than ``INIFile/longestLine``.
    case tooLong
    /// The line isn't UTF-8 text, or has control characters.
    case notText
  }

  /// The maximum length of a line, in bytes.
  public static let longestLine = 2048

  /// The settings in the order of the file, including duplicates.
  public private(set) var settings: [Setting] = []
  /// The faulty lines, counted from 1, in order.
  public private(set) var faults: [(line: Int, fault: Fault)] = []

  /// Parses a file, all of it even if some lines are faulty.
  public init(_ bytes: some Sequence<UInt8>) {
    _ = Self.isPrepared
    let lines = Array(bytes).split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      do throws(Fault) {
        guard let setting = try Self.setting(line, number: index + 1) else { continue }
        settings.append(setting)
      } catch {
        faults.append((index + 1, error))
      }
    }
  }

  private static let isPrepared: Bool = {
    // Two more for the end of the line and the string.
    countersign_ini_set_longest_line(Int32(longestLine + 3))
    return true
  }()

  private static func setting(
    _ line: ArraySlice<UInt8>, number: Int
  ) throws(Fault) -> Setting? {
    guard line.count <= longestLine else { throw .tooLong }
    let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    guard let text = String(validating: line, as: UTF8.self),
      !line.contains(where: { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7f })
    else { throw .notText }
    var pair: (name: String, value: String)?
    let result = unsafe withUnsafeMutablePointer(to: &pair) { pair in
      unsafe ini_parse_string(text, iniSetting, pair)
    }
    guard result == 0 else { throw .notASetting }
    guard let pair else {
      if line.first(where: { $0 != 0x20 && $0 != 0x09 }) == UInt8(ascii: "[") { throw .section }
      return nil
    }
    guard !pair.name.isEmpty else { throw .notASetting }
    return Setting(line: number, name: pair.name, value: pair.value)
  }
}

/// Keeps the setting that libinih found.
private func iniSetting(
  _ context: UnsafeMutableRawPointer?, _ section: UnsafePointer<CChar>?,
  _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?
) -> Int32 {
  guard let context = unsafe context, let name = unsafe name, let value = unsafe value else {
    return 0
  }
  let pair = unsafe context.assumingMemoryBound(to: (name: String, value: String)?.self)
  unsafe pair.pointee = unsafe (String(cString: name), String(cString: value))
  return 1
}
