/// A string literal of a file.
struct StringLiteral {
  /// The line it begins in, from 0.
  let line: Int
  /// The text, with the code of each interpolation between `⟦` and `⟧`.
  let text: String

  /// Returns the literals of a file; nil if one has no end.
  static func all(in file: SourceFile) -> [StringLiteral]? {
    var reader = Reader(Array(file.text.utf8))
    return reader.read() ? reader.found : nil
  }

  /// Returns the code of a file without comments and the text of its literals, with that of
  /// interpolations; nil if a literal has no end.
  static func code(around file: SourceFile) -> String? {
    var reader = Reader(Array(file.text.utf8))
    return reader.read() ? String(decoding: reader.code, as: UTF8.self) : nil
  }

  private struct Reader {
    private enum Place { case code, line, block }

    /// Where the reader is: a literal in an interpolation is on top of that with the interpolation.
    private struct Frame {
      let place: Place
      var depth = 0
      var line = 0
      var text: [UInt8] = []
    }

    let bytes: [UInt8]
    private(set) var found: [StringLiteral] = []
    private(set) var code: [UInt8] = []
    private var index = 0
    private var line = 0
    private var frames = [Frame(place: .code)]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func read() -> Bool {
      while index < bytes.count {
        if bytes[index] == UInt8(ascii: "\n") { line += 1 }
        if frames[frames.count - 1].place == .code { readCode() } else { readText() }
      }
      return frames.count == 1
    }

    private func isNext(_ text: StaticString) -> Bool {
      bytes[index...].starts(with: text.description.utf8)
    }

    private mutating func readCode() {
      let top = frames.count - 1
      if isNext("//") {
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
        return
      }
      if isNext("\"") {
        let isBlock = isNext("\"\"\"")
        code.append(UInt8(ascii: "\""))
        frames.append(Frame(place: isBlock ? .block : .line, line: line))
        index += isBlock ? 3 : 1
        return
      }
      if isNext("(") { frames[top].depth += 1 }
      if isNext(")") {
        frames[top].depth -= 1
        if frames[top].depth == 0, top > 0 {
          frames.removeLast()
          frames[top - 1].text += Array("⟧".utf8)
          code.append(UInt8(ascii: " "))
          index += 1
          return
        }
      }
      if top > 0 { frames[top - 1].text.append(bytes[index]) }
      code.append(bytes[index])
      index += 1
    }

    private mutating func readText() {
      let top = frames.count - 1
      if isNext("\\(") {
        frames[top].text += Array("⟦".utf8)
        frames.append(Frame(place: .code, depth: 1))
        index += 2
        return
      }
      let isBlock = frames[top].place == .block
      if isBlock ? isNext("\"\"\"") : isNext("\"") {
        let frame = frames.removeLast()
        found.append(
          StringLiteral(line: frame.line, text: String(decoding: frame.text, as: UTF8.self)))
        index += isBlock ? 3 : 1
        return
      }
      if isNext("\\"), index + 1 < bytes.count {
        index += 1
        if bytes[index] == UInt8(ascii: "\n") {
          line += 1
          index += 1
          return
        }
      }
      frames[top].text.append(bytes[index])
      index += 1
    }
  }
}
