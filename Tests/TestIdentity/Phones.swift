import Crypto
import Database
import Identity
import OTP
import Testing

extension Instance {
  /// A test phone number of Acme and its tenants; `code` is its code.
  static let number = "+4915112345678"
  static let otherNumber = "+12025550143"
  static let code = "424242"

  /// Enables SMS codes and phone sign-in, with two test phone numbers.
  func allowPhones() async throws {
    let members = """
      {"signIn":{"phoneNumber":{"testPhoneNumbers":{"\(Self.number)":"\(Self.code)",\
      "\(Self.otherNumber)":"\(Self.code)"}}}}
      """
    for pool in [acme, globex] {
      _ = try await identity.pools.update(
        project: pool.project, by: .program(Author(actor: .commandLine))
      ) {
        project in
        project.members = members
        project.signIn.phone = true
        project.signIn.anonymous = true
        project.configuration.setSMS(true)
      }
    }
  }

  func setMembers(_ text: String) async throws {
    _ = try await identity.pools.update(
      project: acme.project, by: .program(Author(actor: .commandLine))
    ) {
      $0.members = text
    }
  }

  func request(_ number: String = Instance.number, from address: ClientAddress = "203.0.113.5")
    -> PhoneRequest
  {
    PhoneRequest(phoneNumber: number, language: "en", address: address)
  }

  /// Enrolls a phone for a session.
  @discardableResult
  func enrollPhone(
    _ session: UserSession, number: String = Instance.number, name: String? = "mobile"
  ) async throws -> SessionGrant {
    let info = try await identity.enrollments.startPhone(session, request(number))
    return try await identity.enrollments.finalizePhone(
      session, .code(sessionInfo: info, code: TypedCode(Self.code)), displayName: name,
      by: Self.visitor)
  }

  /// Creates a user's account with a phone as the second factor.
  func withPhone(_ person: Person, number: String = Instance.number) async throws -> SessionGrant {
    _ = try await account(person)
    return try await enrollPhone(try await session(person).session, number: number)
  }

  /// Sends the sign-in code to an account's phone.
  func sendCode(_ pending: String, to account: Account) async throws -> String {
    let phone = try #require(account.factors.first { $0.kind == .phone })
    return try await identity.signIns.startPhone(
      project: acme.project, tenant: nil, pendingCredential: pending, enrollment: phone.id.text,
      language: "en", address: "203.0.113.5")
  }

  func finalizePhone(
    _ pending: String, _ sessionInfo: String, code: String = Instance.code
  ) async throws -> SessionGrant {
    try await identity.signIns.finalizePhone(
      project: acme.project, tenant: nil, pendingCredential: pending,
      .code(sessionInfo: sessionInfo, code: TypedCode(code)))
  }

  /// Returns the queued messages, except the revert links of enrollments: channel, purpose, and
  /// recipient, sorted.
  func messages() async throws -> [String] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT /* test */ channel || ' ' || purpose || ' ' || recipient FROM outbox
        WHERE purpose <> 'revert-factor' AND purpose NOT LIKE 'grant-%' ORDER BY 1
        """
      ) { try $0.next() as String }
    }
  }
}
