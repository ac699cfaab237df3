import Testing

/// Writes of users' accounts, and of what codes in emails end with (`CodeEnd`).
struct AccountWriteTests {
  /// The files that set the latter, and call `AccountRecord.changed` after it.
  private static let files: Set = [
    "Sources/Identity/Directory/Accounts/Accounts+Update.swift",
    "Sources/Identity/Users/Federation/Federation.swift",
    "Sources/Identity/Users/Import/ImportBatch+Replace.swift",
    "Sources/Identity/Users/OutOfBand/OutOfBandCodes+Use.swift",
    "Sources/Identity/Users/SignIn/SignIns+EmailLink.swift",
    "Sources/Identity/Support/Support/Support+Accounts.swift",
  ]

  /// Files that change how a password or an address is stored, and neither itself.
  private static let forms: Set = [
    "Sources/Identity/Directory/Accounts/AccountRecord.swift",
    "Sources/Identity/Users/SignIn/SignIns.swift",
  ]

  @Test func `an account's row is updated by AccountRecord`() throws {
    let found = try SourceTree.files(in: "Sources").filter {
      $0.text.contains(#/UPDATE account\b/#)
    }
    #expect(
      found.map(\.path) == [
        "Sources/Identity/Directory/Accounts/AccountRecord.swift",
        // Locks that expired, of several accounts at once.
        "Sources/Identity/Directory/CodeAttempts/CodeLock.swift",
      ])
  }

  @Test func `every change of a password, an address, or a state ends codes`() throws {
    let write =
      #/[ .]set(?:Later)?\(\s*"(?:(?!, of: )[\s\S])*\b(password_hash|email_folded|disabled) =/#
    let found = try SourceTree.files(in: "Sources").filter { $0.text.contains(write) }
    #expect(Set(found.map(\.path)) == Self.files.union(Self.forms))
    for file in found where Self.files.contains(file.path) {
      #expect(file.text.contains("AccountRecord.changed("), "\(file.path)")
    }
  }

  @Test func `every deletion of one account ends its codes`() throws {
    let found = try SourceTree.files(in: "Sources").filter {
      $0.text.contains("DELETE FROM account WHERE account_key = ")
    }
    // An anonymous account has no address.
    #expect(
      found.map(\.path) == [
        "Sources/Identity/Directory/Accounts/Accounts.swift",
        "Sources/Identity/Directory/Accounts/AnonymousAccounts.swift",
      ])
    #expect(try #require(found.first).text.contains("OutOfBandRecord.end(by: [.state]"))
  }
}
