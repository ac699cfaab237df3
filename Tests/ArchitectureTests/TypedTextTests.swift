import Testing

/// What people type is compared after it was folded in one place: codes by `TypedCode`, passwords by
/// the password hasher.
struct TypedTextTests {
  /// The files that compare a secret text or digest, with what is compared.
  private static let comparisons: [String: String] = [
    "Sources/Identity/Staff/Administrators/ConsoleSessions+List.swift": "the token of a form",
    "Sources/Identity/Staff/Administrators/Setup.swift": "a typed code",
    "Sources/Identity/Support/Support/CallerCodes.swift": "a typed code",
    "Sources/Identity/Staff/ConsoleProvider/ConsoleProviders+Answer.swift": "a provider's response",
    "Sources/Identity/Users/Federation/ProviderAssertion.swift": "a nonce",
    "Sources/Identity/Directory/Phones/PhoneCodes.swift": "a typed code",
    "Sources/Identity/Users/Sessions/Sessions.swift": "a refresh token",
  ]

  /// The files that fold a typed code, each where it enters; no command reads one, and the demo types
  /// those of its administrators.
  private static let folds = [
    "Sources/Console/Forms/ActionInput.swift", "Sources/Console/Frame/Lists.swift",
    "Sources/Demo/DemoStaff.swift", "Sources/IdentityToolkitAPI/Wire/RequestMessage.swift",
  ]

  /// The files of methods that read a typed code.
  private static let methods = [
    "Sources/IdentityToolkitAPI/V2/Enrollment/Enrollment.swift",
    "Sources/IdentityToolkitAPI/V2/MFASignIn.swift",
    "Sources/IdentityToolkitAPI/Wire/PhoneMessages.swift",
  ]

  /// The files that verify codes of authenticator apps, with whose time they're compared with.
  private static let clocks: [String: String] = [
    "Sources/Identity/Staff/Administrators/AdministratorFactors.swift": "the server's: a new app",
    "Sources/Identity/Staff/Administrators/AdministratorTOTP.swift":
      "the server's: an administrator",
    "Sources/Identity/Users/Enrollment/Enrollments+Phone.swift": "the server's: a new factor",
    "Sources/Identity/Directory/Factors/TOTPFactor.swift": "the factor's",
  ]

  private func paths(_ folders: String..., with word: String) throws -> [String] {
    try folders.flatMap { try SourceTree.files(in: $0) }
      .filter { !$0.code(with: word).isEmpty }.map(\.path).sorted()
  }

  @Test func `each comparison of a secret says what it's of`() throws {
    let found = try paths("Sources/Identity", with: "constantTimeEqual(")
    #expect(found == Self.comparisons.keys.sorted())
  }

  @Test func `a typed code is folded where it enters, and nowhere else`() throws {
    #expect(try paths("Sources", with: "TypedCode(") == Self.folds)
    let methods = try SourceTree.files(in: "Sources/IdentityToolkitAPI")
      .filter { $0.text.contains(/\.code\("\w*[cC]ode"\)/) }
    #expect(methods.map(\.path).sorted() == Self.methods)
  }

  @Test func `each form with a code is tested with every notation`() throws {
    let tests = try SourceTree.file("Tests/ConsoleTests/Administration/TypedCodePageTests.swift")
    let readers = try paths("Sources/Console", with: "form.code(")
    #expect(readers.count == 8)
    for path in readers {
      let file = path.dropFirst("Sources/Console/".utf8.count)
      #expect(tests.text.contains("file: \"\(file)\""), "\(path)")
    }
  }

  @Test func `each place that verifies codes of an app says whose time it takes`() throws {
    let found = try ["password.verify(", "app.verify("].flatMap { try paths("Sources", with: $0) }
    #expect(found.sorted() == Self.clocks.keys.sorted())
    let factors = try SourceTree.file("Sources/Identity/Directory/Factors/TOTPFactor.swift")
    #expect(factors.text.contains("code, at: clock.time(at: now).seconds, window: window"))
  }

  @Test func `how far a device's clock is off isn't on the wire`() throws {
    #expect(try paths("Sources/IdentityToolkitAPI", with: "clockOffset") == [])
  }

  @Test func `only the password hasher hashes and verifies passwords`() throws {
    let makers = try SourceTree.files(in: "Sources").filter {
      !$0.code(with: "PasswordHash.make(").isEmpty || !$0.code(with: "hash.matches").isEmpty
    }
    #expect(makers.map(\.path) == ["Sources/Crypto/PasswordHasher.swift"])
  }
}
