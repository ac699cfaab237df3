import Testing

/// Identity reports facts, and what people read is a message.
struct ProseTests {
  /// Files whose literals aren't for people, with the reason.
  private static let exempt: Set = [
    // HTTP header fields.
    "Sources/Console/Access/SecurityHeaders.swift",
    // Errors of the installation, before any message is shown.
    "Sources/Console/Frame/ConsoleAssets.swift",
    // Keywords, and samples of code.
    "Sources/Console/Guides/SyntaxHighlighter.swift",
    "Sources/Console/Policy/PolicySamples.swift",
    // Names in user agents.
    "Sources/MailText/BrowserText.swift",
    // The name of an actor in the audit log.
    "Sources/Identity/Support/Connections/ProjectConnection.swift",
    // Parts of Google's sentences.
    "Sources/IdentityToolkitClient/RemoteFault.swift",
    // The form of a date.
    "Sources/IdentityToolkitClient/RemoteTransport.swift",
  ]

  @Test(arguments: ["Identity", "Console", "IdentityToolkitClient", "MailText", "countersign"])
  func `a sentence for people is a message`(module: String) throws {
    let breaches = try SourceTree.files(in: "Sources/\(module)")
      .filter { !Self.exempt.contains($0.path) }.flatMap(Self.breaches)
    #expect(breaches == [])
  }

  @Test(arguments: [
    #"let text = "The policy has changed since.""#,
    #"case .gone: "a factor is gone""#,
    #"return "\(name) may not act here any more.""#,
    #"return "Refused by \(name): \(answer ?? "")""#,
    ##"let raw = #"It says "no" to everyone"#"##,
    "let body = \"\"\"\n  Hello,\n\n  your password was \\\n  changed.\n  \"\"\"",
    #"log("at \(isBehind ? "the newest stored time" : "x")")"#,
    #"let url = "https://example.com"; let why = "It is over now""#,
  ])
  func `a sentence is seen`(code: String) {
    #expect(Self.breaches(SourceFile(path: "A.swift", text: code)).count == 1)
  }

  @Test(arguments: [
    "/// \"This is a comment\"\nlet a = 1 // \"and this is one too\"",
    #"try connection.run("UPDATE account SET disabled = 1 WHERE uid = \(uid)")"#,
    "let sql: SQL = \"\"\"\n  s.scope_key, s.project_id,\n    s.name\n  \"\"\"",
    #"guard let id else { throw Failure("a message without a number") }"#,
    #"preconditionFailure("this cannot happen here")"#,
    #"sealer = try Sealer(keys, purpose: "administrator totp secret", random: random)"#,
    #"exposition.gauge("ready", help: "Whether the server is ready.", sample)"#,
    #"let name = "sms number \(number)""#,
    #"let text = Message("The policy has changed since.")"#,
    #"case adjacentIntervals = "adjacent intervals""#,
    #"let header = "a=\(b); c=\(d)""#,
  ])
  func `other text is none`(code: String) {
    #expect(Self.breaches(SourceFile(path: "A.swift", text: code)) == [])
  }

  private static func breaches(_ file: SourceFile) -> [String] {
    let text = file.lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }
      .joined(separator: "\n")
    var literals = Literals()
    literals.read(text[...])
    // Messages, text for developers, the help of metrics, JSON schemas, labels that derive a key, SQL.
    let exempt =
      /(Failure|precondition|preconditionFailure|assert|fatalError)\($|\bMessage\(\s*$|\b(one|other):\s*$|(purpose|help): $|(SQL|jsonSchema) =\s*$/
    let sql =
      /\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|AND|ORDER|CASE|JOIN|SET|LIMIT|DROP|VALUES|ON|NULL)\b/
    return literals.found.filter { literal in
      !literal.before.contains(exempt) && !literal.text.contains(sql) && isSentence(literal.text)
    }.map { "\(file.path): \($0.text)" }
  }

  /// Whether three words follow each other; a value counts as one after a capital letter.
  private static func isSentence(_ text: String) -> Bool {
    var (run, words) = (0, 0)
    for part in text.split(whereSeparator: \.isWhitespace) {
      if part.contains(Literals.value) {
        run += 1
      } else if part.wholeMatch(of: /[“"'(]*[A-Za-z’'-]+[.,;:!?”"')]*/) != nil {
        run += 1
        words += 1
      } else {
        (run, words) = (0, 0)
      }
      if words >= 3 || run >= 3 && words >= 2 && text.first?.isUppercase == true { return true }
    }
    return false
  }
}

/// The string literals of a source text without comments on lines of their own.
private struct Literals {
  /// What takes the place of an interpolated value.
  static let value = "\u{FFFC}"

  /// A literal, and the code before it.
  private(set) var found: [(before: String, text: String)] = []

  mutating func read(_ code: Substring) {
    var rest = code
    while true {
      rest = rest.drop { !"/#\"".contains($0) }
      guard !rest.isEmpty else { return }
      if rest.hasPrefix("//") {
        rest = rest.drop { $0 != "\n" }
      } else if let start = rest.prefixMatch(of: /(#*)("""|")/) {
        let before = String(code[..<rest.startIndex].suffix(40))
        let (hashes, quote) = (String(start.1), String(start.2))
        let text = literal(&rest, from: start.range.upperBound, hashes, quote)
        found.append((before, text))
      } else {
        rest.removeFirst()
      }
    }
  }

  /// Reads a literal up to its end, and the literals in its interpolated values.
  private mutating func literal(
    _ rest: inout Substring, from start: Substring.Index, _ hashes: String, _ quote: String
  ) -> String {
    var text = ""
    rest = rest[start...]
    while let character = rest.first, !rest.hasPrefix(quote + hashes) {
      guard rest.hasPrefix("\\" + hashes) else {
        text.append(character)
        rest.removeFirst()
        continue
      }
      rest = rest.dropFirst(1 + hashes.count)
      guard let escaped = rest.popFirst() else { break }
      switch escaped {
      case "(":
        text += Self.value
        interpolation(&rest)
      case "\n", "n", "t": text += " "
      default: text.append(escaped)
      }
    }
    rest = rest.dropFirst(quote.count + hashes.count)
    return text
  }

  private mutating func interpolation(_ rest: inout Substring) {
    var depth = 1
    while let character = rest.first, depth > 0 {
      if let start = rest.prefixMatch(of: /(#*)("""|")/) {
        let (hashes, quote) = (String(start.1), String(start.2))
        let text = literal(&rest, from: start.range.upperBound, hashes, quote)
        found.append(("", text))
        continue
      }
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      rest.removeFirst()
    }
  }
}
