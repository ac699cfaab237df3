import Testing

/// Each kind of text has one apostrophe.
struct ApostropheTests {
  @Test func `pages have curly apostrophes; emails, commands, and documents have straight ones`()
    throws
  {
    let breaches = try SourceTree.texts().flatMap(Self.breaches)
    #expect(breaches == [])
  }

  @Test func `messages have the apostrophe of their surface`() throws {
    let messages = try MessageTests.templates.get() + MessageTests.code.get().flatMap(\.messages)
    let breaches = messages.filter { message in
      let isOfPages = ["Templates/", "Sources/Console/"].contains { message.file.hasPrefix($0) }
      // On pages and in commands.
      let isOfBoth = message.file.hasPrefix("Sources/IdentityToolkitClient/")
      let text = "\(message.text) \(message.plural ?? "")"
      return text.contains(isOfPages ? "'" : "’") || isOfBoth && text.contains("'")
    }
    #expect(breaches.map { "\($0.file):\($0.line): \($0.text)" } == [])
  }

  @Test(arguments: [
    ("Templates/guides/en/account-build.md", "It's one.\n```js\nit's(another)\n```", 1),
    ("docs/api.md", "The user’s phone\nThe user's phone", 1),
    ("Templates/users/user.mustache", "<p>L'application</p>", 0),
  ])
  func `another apostrophe is found`(path: String, text: String, count: Int) {
    #expect(Self.breaches(SourceFile(path: path, text: text)).count == count)
  }

  private static func breaches(_ file: SourceFile) -> [String] {
    let isGuide = file.path.hasPrefix("Templates/guides/") && file.path.hasSuffix(".md")
    let isDocument =
      file.path.hasSuffix(".md") && (file.path.hasPrefix("docs/") || !file.path.contains("/"))
    guard isGuide || isDocument else { return [] }
    let wrong: Character = isGuide ? "'" : "’"
    var isCode = false
    return file.lines.enumerated().compactMap { number, line in
      if line.hasPrefix("```") { isCode.toggle() }
      guard !isCode, line.contains(wrong) else { return nil }
      return file.breach(number, "use \(isGuide ? "’" : "'") here")
    }
  }
}
