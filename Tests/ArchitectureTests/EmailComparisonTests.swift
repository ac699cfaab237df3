import Testing

/// Addresses are compared in the form of `AccountRules.folded(email:)` only, which tests of the places
/// that look for a mailbox rely on.
struct EmailComparisonTests {
  /// The uses of lowercase letters in the rules and surfaces, with what they're of.
  private static let lowercased: [String: String] = [
    "Sources/Identity/Core/ActionLinks.swift":
      "finds the scheme of a URL; compares domains of links",
    "Sources/Identity/Core/EmailAddress.swift": "folds addresses; folds addresses further",
    "Sources/Identity/Directory/Accounts/SearchText.swift": "folds what searches look for",
    "Sources/Identity/Staff/Administrators/Administrators.swift":
      "compares a password with an address",
    "Sources/Identity/Support/Bulk/BulkList.swift": "finds the names of columns",
    "Sources/Identity/Staff/ConsoleProvider/ConsoleProvider.swift": "finds the scheme of a URL",
    "Sources/Identity/Users/OutOfBand/LinkSettings.swift": "compares domains of links",
    "Sources/Identity/Support/Connections/RemotePolicies.swift": "reads a state",
    "Sources/Identity/Support/UserData/UserIdentifiers.swift": "looks for addresses in texts",
    "Sources/Identity/Directory/Pools/SettingsWeakening.swift": "compares authorized domains",
    "Sources/IdentityToolkitAPI/Declarations/OpenAPI.swift": "names a method",
    "Sources/IdentityToolkitAPI/Import/UserFile.swift": "reads a flag",
    "Sources/IdentityToolkitAPI/V1/Accounts/SignInWithIdp.swift": "names a provider",
    "Sources/IdentityToolkitAPI/Wire/CORS.swift": "compares hosts",
    "Sources/IdentityToolkitAPI/Wire/RequestMessage.swift": "reads a flag",
    "Sources/Console/Audit/AuditQuery.swift": "sorts a menu",
    "Sources/Console/Access/PublicURL.swift": "finds the scheme of a URL",
    "Sources/Console/Settings/SettingsAnswers.swift": "reads authorized domains",
  ]

  /// The files whose statements look for an address, with where it's folded, if not there.
  private static let statements: [String: String?] = [
    "Sources/Identity/Directory/Accounts/AccountRecord.swift": nil,
    "Sources/Identity/Directory/Accounts/AccountSearch.swift": nil,
    "Sources/Identity/Staff/Administrators/AdministratorRecord.swift": nil,
    "Sources/Identity/Staff/Administrators/Administrators.swift": nil,
    "Sources/Identity/Staff/Administrators/ConsoleSessions+SignIn.swift": "TypedEmail",
    "Sources/Identity/Staff/Administrators/Invitations.swift": nil,
    "Sources/Identity/Support/Approvals/Approvals+Decide.swift": "Mailbox.folded",
    "Sources/Identity/Staff/ConsoleProvider/ConsoleProviders+Admit.swift": nil,
    "Sources/Identity/Users/Federation/Federation.swift": "the assertion's address",
    "Sources/Identity/Users/Import/ImportBatch.swift": "the prepared row's address",
    "Sources/Identity/Users/Import/ImportBatch+Replace.swift": "the prepared row's address",
    "Sources/Identity/Users/OutOfBand/OutOfBandCodes.swift": nil,
    "Sources/Identity/Users/OutOfBand/OutOfBandCodes+Use.swift": nil,
    "Sources/Identity/Users/SignIn/SignIns+Forecast.swift": nil,
    "Sources/Identity/Directory/Accounts/Accounts+Update.swift": nil,
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
