/// Finds the tags in a template.
struct Scanner {
  private let source: [UInt8]
  private let file: String
  private var position = 0
  private var line = 1
  private var opening = Array("{{".utf8)
  private var closing = Array("}}".utf8)

  /// Returns all tags in a source, in order.
  static func tags(of source: [UInt8], file: String) throws(TemplateError) -> [Tag] {
    var scanner = Scanner(source: source, file: file)
    var tags: [Tag] = []
    while let tag = try scanner.next() { tags.append(tag) }
    return tags
  }

  private init(source: [UInt8], file: String) {
    self.source = source
    self.file = file
  }

  private mutating func next() throws(TemplateError) -> Tag? {
    guard let start = find(opening, from: position) else { return nil }
    line += newlines(in: position..<start)
    let place = SourceLocation(file: file, line: line)

    let first = start + opening.count
    let sigil = first < source.count ? source[first] : 0
    let kind = kind(of: sigil)
    let body = kind == .escaped ? first : first + 1
    let ending = Self.ending(of: sigil) + closing
    guard let bodyEnd = find(ending, from: body) else {
      throw TemplateError(.unclosedTag, at: place)
    }
    var end = bodyEnd + ending.count
    var texts: [String] = []
    if kind == .message {
      guard let close = find(Array("{{/%}}".utf8), from: end) else {
        throw TemplateError(.unclosedSection("%"), at: place)
      }
      texts = MessageSource.texts(source[end..<close])
      end = close + 6
      guard texts.count <= 2 else { throw malformed(start..<end, place) }
    }
    position = end
    line += newlines(in: start..<end)

    let words = source[body..<bodyEnd].split(whereSeparator: isWhitespace)
    var name = ""
    switch kind {
    case .comment: break
    case .message where words.isEmpty: break
    case .delimiters:
      guard words.count == 2, !words.joined().contains(UInt8(ascii: "=")) else {
        throw malformed(start..<end, place)
      }
      opening = Array(words[0])
      closing = Array(words[1])
    default:
      guard words.count == 1 else { throw malformed(start..<end, place) }
      name = String(decoding: words[0], as: UTF8.self)
    }
    return Tag(kind: kind, name: name, texts: texts, range: start..<end, place: place)
  }

  private func kind(of sigil: UInt8) -> Tag.Kind {
    switch sigil {
    case UInt8(ascii: "{"), UInt8(ascii: "&"): .unescaped
    case UInt8(ascii: "#"): .section
    case UInt8(ascii: "^"): .inverted
    case UInt8(ascii: "/"): .close
    case UInt8(ascii: ">"): .partial
    case UInt8(ascii: "<"): .parent
    case UInt8(ascii: "$"): .block
    case UInt8(ascii: "!"): .comment
    case UInt8(ascii: "="): .delimiters
    case UInt8(ascii: "%"): .message
    default: .escaped
    }
  }

  /// Returns the text before the closing delimiter of a tag that starts with `sigil`.
  private static func ending(of sigil: UInt8) -> [UInt8] {
    switch sigil {
    case UInt8(ascii: "{"): [UInt8(ascii: "}")]
    case UInt8(ascii: "="): [UInt8(ascii: "=")]
    default: []
    }
  }

  private func find(_ needle: [UInt8], from start: Int) -> Int? {
    let first = needle[0]
    let last = source.count - needle.count
    var offset = start
    while offset <= last {
      if source[offset] == first, source[offset...].starts(with: needle) { return offset }
      offset += 1
    }
    return nil
  }

  private func newlines(in range: Range<Int>) -> Int {
    var count = 0
    for byte in source[range] where byte == UInt8(ascii: "\n") || byte == Continuation.mark {
      count += 1
    }
    return count
  }

  private func malformed(_ range: Range<Int>, _ place: SourceLocation) -> TemplateError {
    TemplateError(.malformedTag(String(decoding: source[range], as: UTF8.self)), at: place)
  }
}

/// Returns whether a byte is a space, a tab, or part of a line break.
func isWhitespace(_ byte: UInt8) -> Bool {
  isBlank(byte) || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
}

/// Returns whether a byte is a space or a tab.
func isBlank(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
}

struct Tag {
  enum Kind: Equatable {
    case escaped, unescaped, section, inverted, close, partial, parent, block, comment, delimiters
    /// A whole message, from its opening to its closing tag.
    case message

    /// Whether the tag can be standalone, so that its line is removed from the page.
    var canStandAlone: Bool {
      self != .escaped && self != .unescaped && self != .message
    }

    /// Whether the tag requires a closing tag.
    var isOpening: Bool {
      switch self {
      case .section, .inverted, .parent, .block: true
      default: false
      }
    }
  }

  let kind: Kind
  /// The name in the tag, or the context of a message; empty for comments and delimiters.
  let name: String
  /// The texts of a message: one, or the one for 1 and the one for any other number.
  let texts: [String]
  /// The range in the source, including delimiters.
  let range: Range<Int>
  let place: SourceLocation
}

/// The source of a message, between `{{%}}` and `{{/%}}`.
enum MessageSource {
  /// Returns the text, or the texts around `{{%other}}`.
  ///
  /// A line break, with the space around it, is one space.
  static func texts(_ source: ArraySlice<UInt8>) -> [String] {
    String(decoding: source, as: UTF8.self)
      .split(separator: "{{%other}}", omittingEmptySubsequences: false)
      .map { text in
        text.split { $0.isNewline }.map(trimmed).filter { !$0.isEmpty }.joined(separator: " ")
      }
  }

  private static func trimmed(_ line: Substring) -> Substring {
    var line = line.drop { $0 == " " || $0 == "\t" }
    while let last = line.last, last == " " || last == "\t" { line.removeLast() }
    return line
  }
}
