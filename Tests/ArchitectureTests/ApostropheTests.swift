import Testing

/// Each kind of text has one apostrophe.
struct ApostropheTests {
  @Test func `pages have curly apostrophes; emails, commands, and documents have straight ones`()
    throws
  {
    let breaches = try SourceTree.texts().flatMap(Self.breaches)
    #expect(breaches == [])
  }

  @Test(arguments: [
    ("Templates/users/messages.po", "msgid \"The user's phone\"", 1),
    ("Templates/users/messages.po", "msgid \"The user’s phone\"\n# It's a comment.", 0),
    ("Templates/mail/messages.po", "msgid \"\"\n\"The user’s phone\\n\"", 1),
    ("Sources/countersign/CommandLine/messages.po", "msgid \"The user’s phone\"", 1),
    ("Templates/guidance/en/account.md", "It's one.\n```js\nit's(another)\n```", 1),
    ("docs/api.md", "The user’s phone\nThe user's phone", 1),
    ("Templates/users/messages.fr.po", "msgid \"L'application\"", 0),
  ])
  func `another apostrophe is found`(path: String, text: String, count: Int) {
    #expect(Self.breaches(SourceFile(path: path, text: text)).count == count)
  }

  private static func breaches(_ file: SourceFile) -> [String] {
    let isCatalog = file.path.hasSuffix("/messages.po")
    let isGuide = file.path.hasPrefix("Templates/guidance/") && file.path.hasSuffix(".md")
    let isDocument =
      file.path.hasSuffix(".md") && (file.path.hasPrefix("docs/") || !file.path.contains("/"))
    guard isCatalog || isGuide || isDocument else { return [] }
    let isOfPages = isGuide || isCatalog && file.module == nil && !file.path.contains("/mail/")
    let wrong: Character = isOfPages ? "'" : "’"
    var isCode = false
    return file.lines.enumerated().compactMap { number, line in
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode, !(isCatalog && line.hasPrefix("#")), line.contains(wrong) else { return nil }
      return file.breach(number, "use \(isOfPages ? "’" : "'") here")
    }
  }
}
