import Testing

/// Every stored sealed value can be re-encrypted; otherwise, it would be lost with the old master
/// key.
struct SealingTests {
  /// Stored values, by the purpose of the sealer and the type that re-encrypts them.
  private static let stored: Set = [
    "administrator totp secret AdministratorTOTP",
    "connection Connections",
    "evidence key EvidenceKeys",
    "identity provider IdentityProviders",
    "sign-in provider ConsoleProviders",
    "outbox Outbox", "signing key SigningKeys", "stand-in BackupCodeStore",
    "totp secret RemovedFactors",
    "totp secret TOTPFactor",
  ]

  /// Values that clients hold or that are stored for at most an hour, and device cookies, which may
  /// stop opening without loss.
  private static let carried: Set = [
    "console device", "console storage", "console ticket", "pending token", "ticket",
  ]

  @Test func `everything sealed is either re-encryptable or short-lived`() throws {
    var purposes: Set<String> = []
    var places: Set<String> = []
    for file in try SourceTree.files(in: "Sources/Identity") {
      for match in file.lines.joined(separator: "\n").matches(of: /Sealer\([^)]*purpose: "([^"]+)"/)
      {
        purposes.insert("\(match.1)")
      }
      for match in file.lines.joined(separator: "\n").matches(
        of: /extension (\w+): ReencryptableStore/)
      {
        places.insert("\(match.1)")
      }
    }
    let names = Set(Self.stored.map { String($0[..<($0.lastIndex(of: " ") ?? $0.endIndex)]) })
    #expect(purposes == names.union(Self.carried))
    #expect(
      places == Set(Self.stored.compactMap { $0.split(separator: " ").last.map(String.init) }))
  }

  @Test func `every store is re-encrypted`() throws {
    let identity = try SourceTree.file("Sources/Identity/Identity.swift").lines
      .joined(separator: "\n")
    let list = try #require(identity.firstMatch(of: /places: \[([^\]]+)\]/)).1
    #expect(
      list.split(separator: ",").filter { $0.contains(where: \.isLetter) }.count
        == Self.stored.count)
  }
}
