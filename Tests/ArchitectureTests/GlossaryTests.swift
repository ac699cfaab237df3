import Testing

/// Names and words that were replaced by the field's terms don't come back.
struct GlossaryTests {
  /// Retired spellings and names, in code and text.
  private static let retired: [(word: String, instead: String)] = [
    ("enrol", "enroll"), ("e-mail", "email"), ("authoris", "authoriz"), ("behaviour", "behavior"),
    ("verdict", "code attempt"), ("stand-in", "backup code"),
    ("setapart", "removal hold"), ("objection", "reported change"), ("disorder", "state machine"),
    ("the desk", "support"), ("deskgate", "gate"),
    ("what-if", "sign-in simulator"), ("whatif", "SignInSimulator"),
    ("reviewstanding", "ReviewStatus"),
  ]
  /// Retired words in text that users, operators, and developers read.
  private static let retiredInText: [(word: String, instead: String)] = [
    ("amiss", "wrong, invalid"), ("whoever", "an administrator, a client"),
    ("came of it", "result"), ("wants attention", "needs attention"),
    ("any more", "anymore, no longer"), ("somebody", "someone"), ("everybody", "everyone"),
    ("anybody", "anyone"), ("of its own.", "separate"), ("of its own,", "separate"),
    ("besides", "in addition to"), ("please", "the request alone"),
    ("successfully", "the verb alone"),
  ]
  /// Lines that may contain a retired word, with the reason.
  private static let exempt: [(path: String, text: String)] = [
    // Column headings in lists that users import.
    ("Sources/Identity/Support/Bulk/BulkList.swift", "e-mail"),
    ("Tests/IdentitySupportTests/Support/Bulk/", "e-mail"),
    // Applied migrations don't change, nor do their names and the names they replaced.
    ("Sources/Identity/Migrations/", ""),
    ("Sources/Identity/Identity+Migrations.swift", "PackageResources."),
    // The purpose that sealed secrets are bound to, needed to open existing ones.
    ("Sources/Identity/Directory/Factors/BackupCodeStore.swift", "\"stand-in\""),
    ("Tests/ArchitectureTests/SealingTests.swift", "stand-in"),
    ("Tests/ArchitectureTests/GlossaryTests.swift", ""),
    ("Tests/Acceptance/replayed/", ""), ("Tests/Acceptance/production/", ""),
    ("CHANGELOG.md", ""),
    // The rule itself.
    ("CONTRIBUTING.md", "\"please\""),
    // Texts of production and of Google's emulator.
    ("Sources/IdentityToolkitAPI/", "Please"),
    ("Sources/IdentityToolkitAPI/Emulator/EmulatorCodes.swift", "successfully"),
  ]

  @Test func `retired words stay retired`() throws {
    let breaches = try SourceTree.texts().flatMap { file in
      Self.breaches(in: file, Self.retired)
        + Self.breaches(
          in: file.path.hasPrefix("Tests/") ? Self.prose(of: file) : file, Self.retiredInText)
    }
    #expect(breaches == [])
  }

  @Test func `a retired word is found in any case, and “enroll” isn't one`() {
    let file = SourceFile(
      path: "Sources/Console/A.swift",
      text: """
        let Enrolment = 1
        /// Enrolls a user.
        /// What is AMISS.
        let enrollments = 2
        /// How many more there are, if any more.
        """)
    let found = Self.breaches(in: file, Self.retired + Self.retiredInText)
    #expect(
      found.map { $0.prefix { $0 != " " } } == [
        "Sources/Console/A.swift:1:", "Sources/Console/A.swift:3:", "Sources/Console/A.swift:5:",
      ])
  }

  @Test func `only the comments and names of tests are text`() {
    let file = SourceFile(
      path: "Tests/ConsoleTests/ATests.swift",
      text: """
        @Test func `somebody signs in`() {
          #expect(says("Please wait")) // Besides the code.
          // Somebody else.
          let somebody = "whoever // amiss"
        """)
    let python = SourceFile(
      path: "Tests/Acceptance/test_a.py",
      text: """
        def test_somebody_signs_in(page):
            \"\"\"Whoever it is.\"\"\"
            assert "please" in page  # A page of its own.
        """)
    let found = [file, python].flatMap { Self.breaches(in: Self.prose(of: $0), Self.retiredInText) }
    #expect(
      found.compactMap { $0.split(separator: ":").dropFirst().first } == [
        "1", "2", "3", "1", "2", "3",
      ])
  }

  /// The names and comments of a file of tests, on the same lines.
  ///
  /// Other strings are data, such as texts of production. Lines without a retired word are empty.
  private static func prose(of file: SourceFile) -> SourceFile {
    let all = file.text.lowercased()
    let words = retiredInText.map(\.word).filter { all.contains($0) }
    let lines = file.lines.map { line -> String in
      let lower = line.lowercased()
      guard words.contains(where: { lower.contains($0) }) else { return "" }
      let unquoted = line.replacing(/"(?:[^"\\]|\\.)*"/, with: "")
      let name = line.firstMatch(of: /func `([^`]*)`|def (\w+)/).map { String($0.1 ?? $0.2 ?? "") }
      let comment =
        line.firstMatch(of: /^ *\"\"\".*/).map { String($0.0) }
        ?? unquoted.firstMatch(of: /(?:^|\s)(?:\/\/\/?|#) .*/).map { String($0.0) }
      return [name?.replacing("_", with: " "), comment].compactMap { $0 }.joined(separator: " ")
    }
    return SourceFile(path: file.path, text: lines.joined(separator: "\n"))
  }

  /// Whether a file has text or code: every file of the folders without endings, others by ending.
  private static func isChecked(_ path: String) -> Bool {
    ["script/", "ops/", "packaging/"].contains { path.hasPrefix($0) }
      || ["swift", "mustache", "po", "md", "py", "sh", "css", "js"].contains {
        path.hasSuffix(".\($0)")
      }
  }

  private static func breaches(
    in file: SourceFile, _ words: [(word: String, instead: String)]
  ) -> [String] {
    guard isChecked(file.path) else { return [] }
    let text = file.text.lowercased()
    let mentioned = words.filter { text.contains($0.word) }
    guard !mentioned.isEmpty else { return [] }
    return file.lines.enumerated().flatMap { number, line -> [String] in
      let lower = line.lowercased()
      return mentioned.compactMap { word, instead in
        guard contains(lower, word),
          !exempt.contains(where: {
            file.path.hasPrefix($0.path) && ($0.text.isEmpty || line.contains($0.text))
          })
        else { return nil }
        return file.breach(number, "“\(word)”: say “\(instead)”")
      }
    }
  }

  /// Whether a line contains a word; “many more”, and the retired spelling inside “enroll” and
  /// “tokenRole”, are ignored.
  private static func contains(_ line: String, _ word: String) -> Bool {
    if word == "any more" { return line.contains(/\bany more\b/) }
    guard word == "enrol" else { return line.contains(word) }
    var rest = line[...]
    while let range = rest.firstRange(of: word) {
      let isToken = rest[..<range.lowerBound].hasSuffix("tok")
      if rest[range.upperBound...].first != "l", !isToken { return true }
      rest = rest[range.upperBound...]
    }
    return false
  }
}
