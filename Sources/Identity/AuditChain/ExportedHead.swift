/// A line of a file with exported heads.
public enum ExportedHead: Sendable, Equatable {
  /// A whole head, whether or not its signature is valid.
  case head(AuditHead)
  /// The beginning of a head, as a full disk, a crash, or a power loss leaves it.
  ///
  /// It has no whole signature, so it's no evidence of anything.
  case cut([UInt8])
  /// Anything else.
  case invalid

  /// Parses a line, without its line feed.
  public init(line: [UInt8]) {
    if let head = AuditHead(line: line) {
      self = .head(head)
    } else {
      self = Self.isCut(line) ? .cut(line) : .invalid
    }
  }

  /// The head, if it's whole.
  public var head: AuditHead? {
    if case .head(let head) = self { head } else { nil }
  }

  /// What comes before each value of a head, and after the last one.
  private static let marks = [
    "{\"schema\":\"\(AuditHead.schema)\",\"sequence\":", ",\"signedAt\":\"", "\",\"link\":\"",
    "\",\"key\":\"", "\",\"signature\":\"", "\"}",
  ].map { Array($0.utf8) }

  /// Returns whether a line is the beginning of a head, as ``AuditHead/line`` writes it.
  private static func isCut(_ line: [UInt8]) -> Bool {
    var rest = line[...]
    for mark in marks {
      guard rest.count >= mark.count else { return mark.starts(with: rest) }
      guard rest.starts(with: mark) else { return false }
      rest = rest.dropFirst(mark.count).drop { isInValue($0) }
    }
    return false
  }

  /// Whether a byte can be in a value: a number, a time, hexadecimal digits, or Base64.
  private static func isInValue(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: ":"),
      UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
      true
    default: false
    }
  }
}
