import Testing

/// What people type is compared after it was folded in one place: codes by `TypedCode`, passwords by
/// the password hasher.
struct TypedTextTests {
  /// The files that compare a secret text or digest, with what is compared.
  private static let comparisons: [String: String] = [
    "Sources/Identity/Administrators/ConsoleSessions+List.swift": "the token of a form",
    "Sources/Identity/Administrators/Setup.swift": "TypedCode.folded",
    "Sources/Identity/Support/CallerCodes.swift": "digits of TypedCode.digits",
    "Sources/Identity/ConsoleProvider/ConsoleProviders+Answer.swift": "a provider's response",
    "Sources/Identity/Federation/ProviderAssertion.swift": "a nonce",
    "Sources/Identity/Phones/PhoneCodes.swift": "TypedCode.folded",
    "Sources/Identity/Sessions/Sessions.swift": "a refresh token",
  ]

  /// The files that read a typed code, with the part of `TypedCode` that they use.
  private static let codes: [String: String] = [
    "Sources/OTP/OneTimePassword.swift": "folded",
    "Sources/Identity/Administrators/Setup.swift": "folded",
    "Sources/Identity/Core/TypedCode.swift": "folded",
    "Sources/Identity/Factors/Resynchronization.swift": "digits",
    "Sources/Identity/Support/CallerCodes.swift": "digits",
    "Sources/Identity/Phones/PhoneCodes.swift": "folded",
    "Sources/Identity/UserLinks/EnrollmentLinks.swift": "digits",
  ]

  /// The files that verify codes of authenticator apps, with whose time they're compared with.
  private static let clocks: [String: String] = [
    "Sources/Identity/Administrators/AdministratorFactors.swift": "the server's: a new app",
    "Sources/Identity/Administrators/AdministratorTOTP.swift": "the server's: an administrator",
    "Sources/Identity/Enrollment/Enrollments+Phone.swift": "the server's: a new factor",
    "Sources/Identity/Factors/TOTPFactor.swift": "the factor's",
  ]

  private func paths(_ folders: String..., with word: String) throws -> [String] {
    try folders.flatMap { try SourceTree.files(in: $0) }
      .filter { !$0.code(with: word).isEmpty }.map(\.path).sorted()
  }

  @Test func `each comparison of a secret says what it's of`() throws {
    let found = try paths("Sources/Identity", with: "constantTimeEqual(")
    #expect(found == Self.comparisons.keys.sorted())
  }

  @Test func `typed codes are folded, and nowhere else`() throws {
    let found = try paths("Sources/OTP", "Sources/Identity", with: "TypedCode.")
    #expect(found == Self.codes.keys.sorted())
    for (path, part) in Self.codes {
      #expect(try SourceTree.file(path).text.contains("TypedCode.\(part)("), "\(path)")
    }
    #expect(
      try paths(
        "Sources/Console", "Sources/IdentityToolkitAPI", "Sources/countersign", with: "TypedCode.")
        == [])
  }

  @Test func `each place that verifies codes of an app says whose time it takes`() throws {
    let found = try ["password.verify(", "app.verify("].flatMap { try paths("Sources", with: $0) }
    #expect(found.sorted() == Self.clocks.keys.sorted())
    let factors = try SourceTree.file("Sources/Identity/Factors/TOTPFactor.swift")
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
