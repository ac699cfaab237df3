import Testing

/// The authority of a write is checked in its transaction.
struct AuthorityTests {
  /// A function of `Sources/Identity`, from its declaration to the next one.
  private struct Function {
    let name: String
    let text: Substring
    var signature: Substring { text.prefix { $0 != "{" } }
  }

  private static func functions(of file: SourceFile) -> [Function] {
    let starts = file.text.matches(of: /\n  (?:@\w+\s+)?(?:\w+ )*func (\w+)/)
    return starts.indices.map { index in
      let end =
        index + 1 < starts.count ? starts[index + 1].range.lowerBound : file.text.endIndex
      return Function(
        name: "\(file.path) \(starts[index].1)",
        text: file.text[starts[index].range.lowerBound..<end])
    }
  }

  /// Returns the functions with an author that write without checking its credential.
  private static func unchecked(in files: [SourceFile]) -> [String] {
    files.flatMap(functions).filter { function in
      guard function.signature.contains("by author: Author") else { return false }
      return function.text.matches(of: /store\.write\b/).contains { call in
        function.text[call.range.upperBound...].prefixMatch(of: /\(\s*by: author/) == nil
      }
    }.map(\.name)
  }

  @Test func `every write with an author checks that its credential is still valid`() throws {
    let files = try SourceTree.files(in: "Sources/Identity")
    #expect(Self.unchecked(in: files) == [])
  }

  @Test func `a write that doesn't check its author is found`() {
    let file = SourceFile(
      path: "A.swift",
      text: """
        struct A {
          func a(by author: Author) async throws { try await store.write { _ in } }
          func b(by author: Author) async throws { try await store.write(by: author) { _ in } }
        }
        """)
    #expect(Self.unchecked(in: [file]) == ["A.swift a"])
  }

  /// Where accounts are deleted: in one function with the rule, and without it those of deleted pools,
  /// all those of an emulator, and expired anonymous accounts, which can't have second factors.
  @Test func `accounts are deleted nowhere else`() throws {
    let found = try SourceTree.files(in: "Sources").flatMap(Self.functions).filter {
      $0.text.contains(/DELETE FROM account\s/)
    }.map(\.name)
    #expect(
      found == [
        "Sources/Identity/Directory/Accounts/Accounts.swift delete",
        "Sources/Identity/Directory/Accounts/Accounts.swift deleteAll",
        "Sources/Identity/Directory/Accounts/AnonymousAccounts.swift delete",
        "Sources/Identity/Directory/Pools/Deletion.swift purge",
      ])
  }

  /// Policies are stored in one function, which checks whether a service token may weaken them.
  @Test func `policies are stored nowhere else`() throws {
    let found = try SourceTree.files(in: "Sources/Identity").flatMap(Self.functions).filter {
      $0.text.contains(/UPDATE scope SET mfa_state/)
    }.map(\.name)
    #expect(found == ["Sources/Identity/Directory/Policy/Policies.swift store"])
  }
}
