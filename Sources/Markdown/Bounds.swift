/// Limits within which libcmark responds in time.
///
/// libcmark 0.30 takes time proportional to lines times open blocks, and to images times links in a
/// paragraph. Limiting one factor of each keeps the worst case at a quarter of a second.
enum Bounds {
  static let bytes = 256 * 1024
  static let depth = 100
  static let images = 1000

  static func check(_ markdown: String) throws(MarkdownError) {
    let count = markdown.utf8.count
    guard count <= bytes else { throw .tooLong(bytes: count) }
    var images = 0
    var number = 1
    var rest = Array(markdown.utf8)[...]
    while !rest.isEmpty {
      let line = rest.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
      guard depthBound(of: line) <= depth else { throw .tooDeep(line: number) }
      images += imageMarks(in: line)
      rest = rest[line.endIndex...]
      rest = rest.starts(with: "\r\n".utf8) ? rest.dropFirst(2) : rest.dropFirst()
      number += 1
    }
    guard images <= Self.images else { throw .tooManyImages }
  }

  /// Returns the maximum nesting depth that the start of a line can have.
  ///
  /// Each `>` and each list marker opens a block, and two columns of indentation can continue one.
  private static func depthBound(of line: ArraySlice<UInt8>) -> Int {
    var rest = line
    var markers = 0
    var columns = 0
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: " "): columns += 1
      case UInt8(ascii: "\t"): columns += 4
      case UInt8(ascii: ">"): markers += 1
      case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "*"):
        guard isBlankOrEnd(rest.first) else { return bound(markers, columns) }
        markers += 1
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        rest = rest.drop { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        let end = rest.popFirst()
        guard end == UInt8(ascii: ".") || end == UInt8(ascii: ")"), isBlankOrEnd(rest.first) else {
          return bound(markers, columns)
        }
        markers += 1
      default: return bound(markers, columns)
      }
    }
    return bound(markers, columns)
  }

  /// A marker can include the column after it.
  private static func bound(_ markers: Int, _ columns: Int) -> Int {
    markers + max(0, columns - markers) / 2
  }

  private static func imageMarks(in line: ArraySlice<UInt8>) -> Int {
    zip(line, line.dropFirst()).count { mark, next in
      mark == UInt8(ascii: "!") && next == UInt8(ascii: "[")
    }
  }

  private static func isBlankOrEnd(_ byte: UInt8?) -> Bool {
    byte == nil || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }
}
