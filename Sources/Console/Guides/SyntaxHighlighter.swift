import Text

/// Marks the keywords, strings, and comments of a code sample.
///
/// It knows as much of a language as the samples of the guides need: line comments, strings without
/// nested code, and keywords.
struct SyntaxHighlighter {
  private enum Token: String {
    case keyword = "tk"
    case string = "ts"
    case comment = "tc"
  }

  private let keywords: Set<String>
  private let comment: [UInt8]
  private let quotes: [UInt8]

  /// Nil for an unknown language; `language` is the name after the backticks of a Markdown sample,
  /// such as `swift`.
  init?(_ language: some StringProtocol) {
    guard let words = Self.words[String(language)] else { return nil }
    keywords = Set(words.split(separator: " ").map(String.init))
    let isScript = ["sh", "python", "http"].contains(String(language))
    comment = Array((isScript ? "#" : "//").utf8)
    quotes = Array((language == "js" ? "\"'`" : isScript ? "\"'" : "\"").utf8)
  }

  func html(_ code: String) -> String {
    let bytes = Array(code.utf8)
    var html = ""
    var index = 0
    while index < bytes.count {
      let (token, end) = token(in: bytes, at: index)
      let text = String(decoding: bytes[index..<end], as: UTF8.self).escapedForHTML
      html += token.map { "<span class=\"\($0.rawValue)\">\(text)</span>" } ?? text
      index = end
    }
    return html
  }

  private func token(in bytes: [UInt8], at start: Int) -> (Token?, end: Int) {
    let rest = bytes[start...]
    let isAfterSpace =
      start == 0 || [UInt8(ascii: " "), UInt8(ascii: "\n")].contains(bytes[start - 1])
    if rest.starts(with: comment), isAfterSpace {
      return (.comment, rest.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count)
    }
    if quotes.contains(bytes[start]) { return (.string, endOfString(in: bytes, at: start)) }
    guard Self.isWordPart(bytes[start]) else { return (nil, start + 1) }
    let end = rest.firstIndex { !Self.isWordPart($0) } ?? bytes.count
    let isMember = start > 0 && bytes[start - 1] == UInt8(ascii: ".")
    let word = String(decoding: bytes[start..<end], as: UTF8.self)
    return (!isMember && keywords.contains(word) ? .keyword : nil, end)
  }

  /// Returns the index after a string's closing quotation mark.
  private func endOfString(in bytes: [UInt8], at start: Int) -> Int {
    var index = start + 1
    while index < bytes.count, bytes[index] != bytes[start] {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index + 1, bytes.count)
  }

  private static func isWordPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  private static let words = [
    "js": """
    async await case catch class const default else export for function if import from in let new \
    null of return switch throw try typeof undefined while true false
    """,
    "kotlin": """
    as break by catch class continue else false for fun if import in is null object override \
    private return suspend throw true try val var when while
    """,
    "java": """
    boolean break case catch class default else false final for if import instanceof new null \
    private public return static switch this throw true try void while
    """,
    "swift": """
    as async await case catch class default do else false for func guard if import in let nil \
    return self some switch throw throws true try var where while
    """,
    "objc": "BOOL NO YES break case else for if nil return self switch typedef void while",
    "python": """
    as class def elif else except False for from if import in is lambda None not return True try \
    with
    """,
    "sh": "curl export",
    "http": "GET PATCH POST",
  ]
}
