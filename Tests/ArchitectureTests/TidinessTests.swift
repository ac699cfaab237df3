import Testing

struct TidinessTests {
  @Test func `no file is longer than 400 lines`() throws {
    let breaches = try
      (SourceTree.files(in: "Sources", "Tests") + [SourceTree.file("Package.swift")])
      .flatMap(tooLong)
    #expect(breaches == [])
  }

  @Test func `no comment leaves work for later`() throws {
    let breaches = try SourceTree.texts().flatMap(leftForLater)
    #expect(breaches == [])
  }

  @Test func `no file contains a path of a developer's machine`() throws {
    let breaches = try SourceTree.texts().flatMap(machinePaths)
    #expect(breaches == [])
  }

  @Test func `only pictures, releases, inputs of the fuzzer, and common passwords aren't text`()
    throws
  {
    let folders = [
      "docs/pictures/", "Tests/Fixtures/releases/", "Tests/ParserFuzzingTests/Corpus/",
      "Sources/Identity/Directory/Passwords/",
    ]
    let others = try SourceTree.binaries().filter { path in
      !folders.contains { path.hasPrefix($0) }
    }
    #expect(others == [])
  }

  @Test func `each violation is found`() {
    let long = SourceFile(path: "A.swift", text: String(repeating: "\n", count: 401))
    #expect(tooLong(long).count == 1)
    #expect(tooLong(SourceFile(path: "A.swift", text: String(repeating: "\n", count: 400))) == [])
    let later = SourceFile(path: "A.swift", text: "x\n// " + "TO" + "DO: more")
    #expect(leftForLater(later) == ["A.swift:2: do it or drop it"])
    let path = SourceFile(path: "A.swift", text: "open(\"/" + "home/anna/x\")")
    #expect(machinePaths(path) == ["A.swift:1: the path of a machine"])
  }

  private func tooLong(_ file: SourceFile) -> [String] {
    // The text after the last line break is not a line.
    let count = file.lines.count - (file.lines.last == "" ? 1 : 0)
    return count > 400 ? ["\(file.path): \(count) lines"] : []
  }

  private func leftForLater(_ file: SourceFile) -> [String] {
    // Concatenated, so that this file doesn't match.
    let words = ["TO" + "DO", "FIX" + "ME", "X" + "XX:"]
    return file.breaches(of: words, "do it or drop it")
  }

  private func machinePaths(_ file: SourceFile) -> [String] {
    // Where the path begins: other paths may have a folder of that name.
    let path = #/(?:^|[^\w.}\)])\/(?:home|root|Users|work|opt)\//#
    return file.lines.enumerated().compactMap { number, line in
      line.contains(path) ? file.breach(number, "the path of a machine") : nil
    }
  }
}
