import Testing

/// A failed database passes through the use cases untyped, and each front end translates it once.
struct ErrorTests {
  /// The public error types of a source file.
  static func types(in file: SourceFile) -> [Substring] {
    let declaration = /(?m)^\s*public (?:indirect )?(?:enum|struct) (\w+)(?:<.*>)?: .*\bError\b/
    return file.text.matches(of: declaration).map(\.1)
  }

  @Test func `no error type has a case for a failed database`() throws {
    let found = try SourceTree.files(in: "Sources/Identity").filter {
      $0.text.contains("case unavailable") || $0.text.contains("Mirror(")
    }
    #expect(found.map(\.path) == [])
  }

  @Test func `error types are found`() {
    let file = SourceFile(
      path: "A.swift",
      text: """

        public enum AError: Error, Sendable {}
        extension A {
          public struct B: Error {}
        }
        public enum C: Sendable {}
        """)
    #expect(Self.types(in: file) == ["AError", "B"])
  }
}
