/// A message in the code, as `Message("Text", ["name": …])` or `Message(one: …, other: …, […])`.
struct ExtractedMessage {
  var file: String
  var line: Int
  var context: String?
  var text: String
  var plural: String?
  /// The names of the arguments that the call has.
  var arguments: Set<String> = []
  /// The names of the arguments that are messages themselves.
  var composed: Set<String> = []
  /// What a comment that begins with `Translators:` says above the call.
  var comment: String?

  /// The places of arguments in the text, with the number that chooses the form.
  var names: Set<String> {
    let texts = [text, plural ?? ""]
    return texts.reduce(into: plural == nil ? [] : ["count"]) { names, text in
      let plain = text.replacing("{{", with: "").replacing("}}", with: "")
      names.formUnion(plain.matches(of: /\{([\w.]+)\}/).map { String($0.1) })
    }
  }

  /// The arguments that are messages, but aren't apart from the other words of the text.
  var joined: Set<String> {
    composed.filter { name in
      ![text, plural ?? ""].allSatisfy { Self.isApart(name, in: $0) }
    }
  }

  /// Whether an argument is a sentence, or after a colon, in parentheses or quotation marks, on its own
  /// line, or between separators, so that it needn't agree with other words.
  static func isApart(_ name: String, in text: String) -> Bool {
    let text = text.replacing(/<[^>]+>/, with: "")
    return text.ranges(of: "{\(name)}").allSatisfy { place in
      let (before, after) = (text[..<place.lowerBound], text[place.upperBound...])
      let words = before.replacing(/\{\w+\}/, with: "")
      if let mark = words.ranges(of: #/: |[(“\n\t]| · /#).last,
        !words[mark.upperBound...].contains(where: \.isLetter)
      {
        return true
      }
      let begins = before.isEmpty || [". ", "} ", "→ "].contains { before.hasSuffix($0) }
      let ends = after.isEmpty || after.prefixMatch(of: #/[:.\n\t]| [({·→A-Z]/#) != nil
      return begins && ends
    }
  }
}

/// Reads the messages of a Swift file.
struct MessageExtraction {
  private(set) var messages: [ExtractedMessage] = []
  /// The calls of another shape.
  private(set) var breaches: [String] = []
  private let file: SourceFile

  init(_ file: SourceFile) {
    self.file = file
    var line = 0
    var scanned = file.text.startIndex
    // Comments keep their length, so that positions are those of the file.
    let code = file.lines.map { line in
      line.drop { $0 == " " }.hasPrefix("//")
        ? String(repeating: " ", count: line.count) : "\(line)"
    }.joined(separator: "\n")
    let composed = /\b(?:let|var|func) (\w+)[^={\n]*[={]\s*(?:Message\.Value)?\.message\(/
    let declared = Set(code.matches(of: composed).map(\.1))
    for match in code.matches(of: /\bMessage\(/) {
      line += code[scanned..<match.range.lowerBound].count { $0 == "\n" }
      scanned = match.range.lowerBound
      var call = Call(code[match.range.upperBound...])
      if var message = call.message(declared) {
        (message.file, message.line) = (file.path, line + 1)
        message.comment = comment(above: line)
        messages.append(message)
      } else {
        breaches.append(file.breach(line, "a message that isn't a literal"))
      }
    }
  }

  private func comment(above line: Int) -> String? {
    var text: [Substring] = []
    for line in file.lines[..<line].reversed() {
      let words = line.drop { $0 == " " }
      guard words.hasPrefix("// ") else { return nil }
      text.insert(words.dropFirst(3), at: 0)
      if let first = text.first, first.hasPrefix("Translators: ") {
        return text.joined(separator: " ").replacing("Translators: ", with: "")
      }
    }
    return nil
  }
}

/// The arguments of a call, after its opening parenthesis.
private struct Call {
  private var rest: Substring

  init(_ rest: Substring) { self.rest = rest }

  /// Returns the message; `declared` are the names of values that are messages.
  mutating func message(_ declared: Set<Substring>) -> ExtractedMessage? {
    var message = ExtractedMessage(file: "", line: 0, text: "")
    if take("one:") {
      guard let one = literal(), take(","), take("other:"), let other = literal() else {
        return nil
      }
      (message.text, message.plural) = (one, other)
    } else {
      guard let text = literal() else { return nil }
      message.text = text
    }
    while take(",") {
      if take("context:") {
        guard let context = literal() else { return nil }
        message.context = context
      } else if take("[") {
        let values = dictionary()
        message.arguments = Set(values.keys)
        message.composed = message.arguments.filter { name in
          values[name].map { $0.hasSuffix(".message") || declared.contains($0) } ?? false
        }
      } else if !rest.hasPrefix(")") {
        return nil
      }
    }
    return take(")") ? message : nil
  }

  private mutating func take(_ token: String) -> Bool {
    rest = rest.drop(while: \.isWhitespace)
    guard rest.hasPrefix(token) else { return false }
    rest.removeFirst(token.count)
    rest = rest.drop(while: \.isWhitespace)
    return true
  }

  /// Reads the keys of a dictionary with how their values begin, through its closing bracket.
  private mutating func dictionary() -> [String: Substring] {
    var values: [String: Substring] = [:]
    var depth = 0
    while let character = rest.first {
      if character == "\"" {
        let text = literal() ?? ""
        if depth == 0, rest.first == ":" {
          values[text] = rest.dropFirst().drop(while: \.isWhitespace)
            .prefix { $0.isLetter || $0.isNumber || $0 == "." }
        }
        continue
      }
      rest.removeFirst()
      if "([{".contains(character) { depth += 1 }
      if ")]}".contains(character) {
        if depth == 0 { return values }
        depth -= 1
      }
    }
    return values
  }

  /// Reads a literal; nil for anything else.
  private mutating func literal() -> String? {
    guard rest.hasPrefix("\"\"\"\n") else {
      guard rest.hasPrefix("\""), !rest.hasPrefix("\"\"\"") else { return nil }
      rest.removeFirst()
      let text = unescaped(until: "\"")
      return text
    }
    rest.removeFirst(4)
    guard let end = rest.firstRange(of: "\"\"\"") else { return nil }
    let lines = rest[..<end.lowerBound].split(separator: "\n", omittingEmptySubsequences: false)
    let indentation = lines.last?.count ?? 0
    var body = lines.dropLast().map { $0.dropFirst(indentation) }.joined(separator: "\n")[...]
    let after = rest[end.upperBound...]
    swap(&rest, &body)
    let text = unescaped(until: nil)
    rest = after
    return text
  }

  /// Reads text with escapes up to a quotation mark, which is removed, or to the end.
  private mutating func unescaped(until quote: Character?) -> String {
    var text = ""
    while let character = rest.popFirst() {
      if character == quote { break }
      guard character == "\\" else {
        text.append(character)
        continue
      }
      switch rest.popFirst() {
      case "n": text.append("\n")
      case "t": text.append("\t")
      case "\n": break
      case "u":
        let digits = rest.dropFirst().prefix { $0 != "}" }
        rest.removeFirst(digits.count + 2)
        if let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) {
          text.unicodeScalars.append(scalar)
        }
      case let other?: text.append(other)
      case nil: break
      }
    }
    return text
  }
}
