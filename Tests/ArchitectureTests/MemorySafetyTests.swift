import Testing

/// The modules that call C libraries or, as Templating, read stored properties by offset, and so may
/// use `unsafe`.
private let mayBeUnsafe: Set = [
  "DatabaseSQLite", "DatabasePostgreSQL", "Crypto", "QRCode", "Markdown", "HTTPClient",
  "HTTPServer", "Network", "Templating", "INI", "Host", "CBOR", "Compression",
]

/// The files of other modules that may use `unsafe`: this one takes the addresses of literals, which
/// never change, and never reads what is there.
private let filesThatMayBeUnsafe: Set = ["Sources/Database/StatementKey.swift"]

struct MemorySafetyTests {
  @Test func `only modules that wrap C libraries use unsafe`() throws {
    let breaches = try SourceTree.files(in: "Sources").flatMap(unsafeWords)
    #expect(breaches == [])
  }

  @Test func `every file that may use unsafe does`() throws {
    let files = try SourceTree.files(in: "Sources").filter {
      filesThatMayBeUnsafe.contains($0.path)
    }
    #expect(files.count == filesThatMayBeUnsafe.count)
    for file in files {
      let text = file.lines.joined(separator: "\n")
      #expect(!unsafeWords(SourceFile(path: "Sources/Identity/A.swift", text: text)).isEmpty)
    }
  }

  @Test func `every unchecked Sendable has numbered reasons`() throws {
    let breaches = try SourceTree.files(in: "Sources", "Tests").flatMap(unexplained)
    #expect(breaches == [])
  }

  @Test(arguments: [
    "let byte = unsafe pointer.pointee", "@unsafe func f() {}", "@safe struct S {}",
    "nonisolated(unsafe) var counter = 0",
  ])
  func `unsafe code is found`(line: String) {
    #expect(unsafeWords(SourceFile(path: "Sources/Identity/A.swift", text: line)).count == 1)
    #expect(unsafeWords(SourceFile(path: "Sources/Crypto/A.swift", text: line)) == [])
  }

  @Test func `the word in a comment or a string isn't code`() {
    let text = "let word = \"unsafe\"  // unsafe\n/// It is unsafe to sleep.\nlet isUnsafe = true"
    #expect(unsafeWords(SourceFile(path: "Sources/Identity/A.swift", text: text)) == [])
  }

  @Test func `a missing reason is found`() {
    let line = "final class Box: @unchecked Sendable {"
    let bare = SourceFile(path: "Sources/Crypto/A.swift", text: line)
    let explained = SourceFile(path: "Sources/Crypto/A.swift", text: "/// 1. set once.\n" + line)
    #expect(unexplained(bare).count == 1)
    #expect(unexplained(explained) == [])
  }

  private func unsafeWords(_ file: SourceFile) -> [String] {
    guard let module = file.module, !mayBeUnsafe.contains(module),
      !filesThatMayBeUnsafe.contains(file.path)
    else { return [] }
    return file.code(with: "safe").compactMap { line, code in
      code.contains(/\bunsafe\b|@safe\b/) ? file.breach(line, "\(module) may not be unsafe") : nil
    }
  }

  private func unexplained(_ file: SourceFile) -> [String] {
    file.code(with: "@unchecked").compactMap { line, code in
      guard code.contains(/@unchecked\s+Sendable/) else { return nil }
      let before = file.lines[max(0, line - 12)..<line]
      return before.contains { $0.contains(#/// 1\.\s/#) }
        ? nil : file.breach(line, "no numbered reason above")
    }
  }
}
