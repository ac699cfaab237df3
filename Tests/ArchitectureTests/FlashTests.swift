import Testing

/// Results are reported in one place: the frame's flash, just before the heading.
struct FlashTests {
  @Test func `no template of a page has a status region of its own`() throws {
    let templates = try SourceTree.texts().filter { $0.path.hasSuffix(".mustache") }
    #expect(templates.count > 50)
    let breaches = templates.flatMap { file in
      file.lines.enumerated().filter { $0.element.contains("role=\"status\"") }
        .map { file.breach($0.offset, "use the frame's flash") }
    }
    #expect(breaches == [])
  }
}
