import Testing

/// Changes of templates can be reviewed: their lines are short.
struct TemplateLineTests {
  private static let longest = 200

  @Test func `no line of a template is longer than 200 bytes`() throws {
    let templates = try SourceTree.texts().filter { $0.path.hasSuffix(".mustache") }
    #expect(templates.count > 50)
    let breaches = templates.flatMap { file in
      file.lines.enumerated().filter { $0.element.utf8.count > Self.longest }
        .map { file.breach($0.offset, "\($0.element.utf8.count) bytes") }
    }
    #expect(breaches == [])
  }
}
