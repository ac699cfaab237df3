import Crypto
import Database
import JSON
import Testing

@testable import Identity

extension TestServer {
  /// Turns temporary codes and recovery codes on.
  func allowBackupCodes() async throws {
    var settings = SupportRules()
    (settings.temporaryCodes, settings.recoveryCodes) = (true, true)
    let pool = try await identity.pools.find(project: ID(TestServer.project))
    try await identity.support.change(pool, to: settings, by: .program(Author(actor: .commandLine)))
  }

  /// Returns a request by a support agent who has just re-authenticated.
  private func request() async throws -> ActionRequest {
    let password = Secret("correct horse battery")
    let administrator = try await identity.administrators.create(
      email: "dora@desk.example.com", displayName: "Dora", password: password,
      grant: Grant(role: .support), by: Author(actor: .commandLine))
    let outcome = try await identity.consoleSessions.signIn(
      email: administrator.email, password: password, address: "a", userAgent: "Browser")
    guard case .signedIn(let new) = outcome else { throw NoSession() }
    let now = now
    try await database.write { connection in
      _ = try connection.run(
        "UPDATE /* test */ console_session SET proved_at = \(now)")
    }
    return ActionRequest(
      agent: new.session, author: administrator.author(address: "a", requestID: "r"),
      reason: .lost)
  }

  private struct NoSession: Error {}

  /// Generates a temporary code for a user, as a support agent.
  func temporaryCode(of uid: String) async throws -> String {
    let pool = try await identity.pools.find(project: ID(TestServer.project))
    return try await identity.backupCodes.makeTemporaryCode(
      try await request(), for: ID(uid), in: pool, hours: 1
    ).value.code.revealedText
  }

  /// Reports a change as unauthorized, as the user would.
  func object(for uid: String) async throws {
    try await allowBackupCodes()
    _ = try await temporaryCode(of: uid)
    var link: Substring?
    while let mail = try await identity.deliveries.claim() {
      link = mail.body.split(separator: "\n").first { $0.contains("not-me?code=") } ?? link
    }
    let code = try #require(link?.split(separator: "=").last)
    try await identity.reportedChanges.object(String(code), by: Author(actor: .visitor))
  }

  /// Resets a user's password to the same one, with a link to their address.
  func reset(_ person: Person) async throws {
    let sent = try await post(
      "/v1/accounts:sendOobCode",
      ["requestType": "PASSWORD_RESET", "email": .string(person.email)])
    #expect(sent.status == 200, "\(sent.json)")
    var code: Substring?
    while let mail = try await identity.deliveries.claim() {
      code = mail.body.split(separator: "oobCode=").last?.prefix { $0 != "&" && $0 != "\n" }
    }
    let reset = try await post(
      "/v1/accounts:resetPassword",
      ["oobCode": .string(String(try #require(code))), "newPassword": .string(Person.password)])
    #expect(reset.status == 200, "\(reset.json)")
  }
}
