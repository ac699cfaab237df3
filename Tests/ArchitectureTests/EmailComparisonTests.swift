import Testing

/// Addresses are compared in the form of `AccountRules.folded(email:)` only, which tests of the places
/// that look for a mailbox rely on.
struct EmailComparisonTests {
  /// The uses of lowercase letters in the rules and surfaces, with what they're of.
  private static let lowercased: [String: String] = [
    "Sources/Identity/Accounts/AccountRules.swift": "folds addresses; folds addresses further",
    "Sources/Identity/Accounts/SearchText.swift": "folds what searches look for",
    "Sources/Identity/Administrators/Administrators.swift": "compares a password with an address",
    "Sources/Identity/Bulk/BulkList.swift": "finds the names of columns",
    "Sources/Identity/ConsoleProvider/ConsoleProvider.swift": "finds the scheme of a URL",
    "Sources/Identity/OutOfBand/ActionLinks.swift": "compares domains of links",
    "Sources/Identity/UserData/UserIdentifiers.swift": "looks for addresses in texts",
    "Sources/Identity/Pools/SettingsWeakening.swift": "compares authorized domains",
    "Sources/IdentityToolkitAPI/Declarations/OpenAPI.swift": "names a method",
    "Sources/IdentityToolkitAPI/Import/UserFile.swift": "reads a flag",
    "Sources/IdentityToolkitAPI/V1/Accounts/SignInWithIdp.swift": "names a provider",
    "Sources/IdentityToolkitAPI/Wire/CORS.swift": "compares hosts",
    "Sources/IdentityToolkitAPI/Wire/RequestMessage.swift": "reads a flag",
    "Sources/Console/Audit/AuditQuery.swift": "sorts a menu",
    "Sources/Console/PublicURL.swift": "finds the scheme of a URL",
    "Sources/Console/Settings/SettingsAnswers.swift": "reads authorized domains",
  ]

  /// The files whose statements look for an address, with where it's folded, if not there.
  private static let statements: [String: String?] = [
    "Sources/Identity/Accounts/AccountRecord.swift": nil,
    "Sources/Identity/Accounts/AccountSearch.swift": nil,
    "Sources/Identity/Administrators/AdministratorRecord.swift": nil,
    "Sources/Identity/Administrators/Administrators.swift": nil,
    "Sources/Identity/Administrators/ConsoleSessions+SignIn.swift": "TypedEmail",
    "Sources/Identity/Administrators/Invitations.swift": nil,
    "Sources/Identity/Approvals/Approvals+Decide.swift": "Mailbox.folded",
    "Sources/Identity/ConsoleProvider/ConsoleProviders+Admit.swift": nil,
    "Sources/Identity/Federation/Federation.swift": "the assertion's address",
    "Sources/Identity/Import/ImportBatch.swift": "the prepared row's address",
    "Sources/Identity/Import/ImportBatch+Replace.swift": "the prepared row's address",
    "Sources/Identity/OutOfBand/OutOfBandCodes.swift": nil,
    "Sources/Identity/OutOfBand/OutOfBandCodes+Use.swift": nil,
    "Sources/Identity/SignIn/SignIns+EmailLink.swift": nil,
    "Sources/Identity/SignIn/SignIns+Forecast.swift": nil,
    "Sources/Identity/Accounts/Accounts+Update.swift": nil,
  ]

  @Test func `no address is compared in lowercase letters`() throws {
    let files = try SourceTree.files(
      in: "Sources/Identity", "Sources/IdentityToolkitAPI", "Sources/Console")
    let found = Set(files.filter { !$0.code(with: "lowercased()").isEmpty }.map(\.path))
    #expect(found.subtracting(Self.lowercased.keys).sorted() == [])
    #expect(Set(Self.lowercased.keys).subtracting(found).sorted() == [], "no longer there")
  }

  @Test func `a statement looks for an address in folded form`() throws {
    let found = try SourceTree.files(in: "Sources/Identity").filter { file in
      file.text.contains("email_folded = \\(") || file.text.contains("initial_email = \\(")
    }
    #expect(found.map(\.path).sorted() == Self.statements.keys.sorted())
    for file in found {
      guard let elsewhere = Self.statements[file.path] else { continue }
      #expect(elsewhere != nil || file.text.contains("AccountRules.folded"), "\(file.path)")
    }
  }
}
