import Crypto
import Identity
import Testing

extension Instance {
  /// Permits or forbids backup codes in a pool.
  func allowBackupCodes(
    temporary: Bool = true, recovery: Bool = true, in pool: Pool? = nil
  ) async throws {
    var settings = try await identity.support.settings(pool ?? acme)
    (settings.temporaryCodes, settings.recoveryCodes) = (temporary, recovery)
    try await identity.support.change(pool ?? acme, to: settings, by: .program(Self.boss))
  }

  /// Generates a temporary code for a user, as an agent.
  func temporaryCode(
    _ account: Account, hours: Int = 1, by agent: Agent? = nil, in pool: Pool? = nil
  ) async throws -> String {
    let agent = if let agent { agent } else { try await self.agent() }
    return try await identity.backupCodes.makeTemporaryCode(
      agent.request(), for: account.id, in: pool ?? acme, hours: hours
    ).value.code.revealedText
  }

  /// Signs a user in with their password and a code.
  @discardableResult
  func signIn(_ person: Person, _ device: Device, code: String) async throws -> SessionGrant {
    try await finalize(device, try await pending(person), code: code)
  }

  /// Generates ten recovery codes, as the user; the clock advances by 30 seconds.
  func recoveryCodes(_ person: Person, _ device: Device) async throws -> [String] {
    let grant = try await signIn(person, device, code: device.code(at: now))
    clock.advance(30)
    return try await identity.enrollments.makeRecoveryCodes(
      grant.session, by: Author(actor: .user(grant.account.id))
    ).map(\.revealedText)
  }

  /// Returns the code of the link to a server page, in the last email with this purpose.
  func linkCode(_ purpose: String, to page: String) async throws -> String {
    let mail = try #require(try await mails(purpose).last)
    let lines = mail.body.split(separator: "\n").map(String.init)
    let link = try #require(lines.first { $0.hasPrefix("\(Instance.publicURL)\(page)?code=") })
    return try #require(parameter("code", of: link))
  }
}
