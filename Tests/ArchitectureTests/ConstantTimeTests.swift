import Testing

/// The comparison of one-time codes takes the same steps for every code.
struct ConstantTimeTests {
  @Test func `V11: the loop over the time steps has no exit and no branch`() throws {
    let loop = Self.loop(try SourceTree.file("Sources/OTP/Verification.swift"))
    #expect(loop.count > 5)
    #expect(loop.filter(Self.isBranch) == [])
  }

  @Test(arguments: [
    "if hit { return }", "guard hit else { break }", "let a = hit && b", "a ? 1 : 2",
  ])
  func `a branch is found`(code: String) {
    #expect(Self.isBranch(code))
  }

  /// The lines of the loop over the offsets of time steps.
  private static func loop(_ file: SourceFile) -> [String] {
    file.lines.drop { !$0.contains("for offset in Self.offsets {") }.dropFirst()
      .prefix { $0 != "    }" }.map(String.init)
  }

  private static func isBranch(_ line: String) -> Bool {
    line.contains(/\b(if|guard|return|break|continue|switch)\b|&&|\|\||\?/)
  }
}
