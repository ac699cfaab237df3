import Testing

/// What changes how the users of a pool can sign in, and so counts those whom it leaves outside
/// (`SignInNarrowing`).
struct SignInMethodTests {
  /// The statements in Identity that change a pool's sign-in methods or providers.
  private static let statements: Set = [
    // Narrow sign-in.
    "Sources/Identity/Directory/Pools/Pools.swift: UPDATE scope SET (\\(PoolEdit.columnNames))",
    "Sources/Identity/Users/Federation/IdentityProviders.swift: UPDATE identity_provider SET display_name",
    "Sources/Identity/Users/Federation/IdentityProviders.swift: DELETE FROM identity_provider\n",
    // A new pool has no users, and a new provider no identities that were useful before.
    "Sources/Identity/Directory/Pools/Pools+Creation.swift: INSERT INTO scope (",
    "Sources/Identity/Users/Federation/IdentityProviders.swift: INSERT INTO identity_provider (",
    // Encrypts a secret again.
    "Sources/Identity/Users/Federation/IdentityProviders.swift: UPDATE identity_provider SET sealed_secret",
    // A deleted pool, with its users.
    "Sources/Identity/Directory/Pools/Deletion.swift: DELETE FROM identity_provider WHERE",
  ]

  /// The calls of the console, the API, and commands.
  private static let calls: [String: [String]] = [
    "Sources/Console/Settings/SettingsPage.swift": ["identity.pools.update("],
    "Sources/Console/Settings/SignInSwitchPage.swift": ["identity.pools.update("],
    "Sources/Console/Providers/ProviderPage.swift": [
      "identity.identityProviders.update(", "providers.delete(",
    ],
    "Sources/IdentityToolkitAPI/V2/Config/Config.swift": ["identity.pools.update("],
    "Sources/IdentityToolkitAPI/V2/Tenants.swift": ["identity.pools.update("],
    "Sources/IdentityToolkitAPI/V2/Providers.swift": [
      "identity.identityProviders.update(", "identity.identityProviders.delete(",
    ],
    "Sources/IdentityToolkitAPI/Emulator/EmulatorRoutes.swift": ["identity.pools.update("],
  ]

  @Test func `every statement that changes how users sign in is known`() throws {
    let words = [
      #/(?:INSERT INTO|UPDATE|DELETE FROM) identity_provider(?:\n| WHERE| \(| SET \w+)/#,
      #/INSERT INTO scope \(|UPDATE scope SET \(\\\(PoolEdit.columnNames\)\)/#,
      #/UPDATE scope SET(?:(?!"""|WHERE)[\s\S])*\b(?:password|email_link|anonymous|phone) =/#,
    ]
    let found = try SourceTree.files(in: "Sources").flatMap { file in
      words.flatMap { file.text.matches(of: $0).map { "\(file.path): \($0.output)" } }
    }
    #expect(Set(found) == Self.statements)
    for path in ["Directory/Pools/Pools.swift", "Users/Federation/IdentityProviders.swift"] {
      let file = try SourceTree.file("Sources/Identity/\(path)")
      #expect(file.text.contains("SignInNarrowing.counting(store)"), "\(path)")
    }
  }

  @Test func `every call that changes how users sign in is known`() throws {
    let call = #/[\w.]*(?:pools\.update|[pP]roviders\.(?:update|delete))\(/#
    let files = try SourceTree.files(in: "Sources").filter { $0.module != "Identity" }
    let found = files.map { ($0.path, $0.text.matches(of: call).map { String($0.output) }) }
    #expect(
      Dictionary(uniqueKeysWithValues: found.filter { !$0.1.isEmpty }) == Self.calls)
  }
}
