import Crypto
import Database
import OTP
import Testing

@testable import Console
@testable import Identity

extension World {
  /// Enables temporary and recovery codes in eu-shop, or disables them.
  func allowBackupCodes(temporary: Bool = true, recovery: Bool = true) async throws {
    var settings = SupportRules()
    (settings.temporaryCodes, settings.recoveryCodes) = (temporary, recovery)
    try await identity.support.change(
      try await euPool, to: settings, by: .program(Author(actor: .commandLine)))
  }

  /// A user of eu-shop.
  func user(_ uid: String = World.chiara) async throws -> Account {
    let found = try await identity.accounts.find(try await euPool, ID(uid))
    return try #require(found)
  }

  /// Generates recovery codes of a user of eu-shop, as the application does for them.
  func makeRecoveryCodes(of uid: String = World.chiara) async throws {
    let account = try await user(uid)
    let (codes, now) = (identity.enrollments.backupCodes, clock.now)
    try await database.write { connection in
      _ = try codes.make(.recovery, for: account, at: now, connection)
    }
  }

  /// Starts a session of a user, of eu-shop unless a pool is given, with a password and a backup code.
  func beginSessionWithBackupCode(
    of uid: String = World.chiara, in pool: Pool? = nil
  ) async throws {
    let pool = if let pool { pool } else { try await euPool }
    let found = try await identity.accounts.find(pool, ID(uid))
    let (account, now) = (try #require(found), clock.now)
    let factor = try #require(account.factors.first)
    let random = identity.enrollments.store.random
    try await database.write { connection in
      _ = try Sessions.begin(
        account, in: pool, provider: .password,
        secondFactor: SecondFactorClaim(kind: factor.kind, enrollment: factor.id),
        with: .signInWith(claims: nil, backupCode: true), at: now, random: random, connection)
    }
  }

  /// The path and query of the link to a page in the last email.
  func link(to page: String) async throws -> String {
    var link: String?
    while let mail = try await claim() {
      let line = mail.body.split(separator: "\n").first { $0.contains("\(page)?code=") }
      if let line { link = String(line) }
    }
    guard let link, let start = link.firstRange(of: "/__/") else { throw Missing(page) }
    return String(link[start.lowerBound...])
  }

  private func claim() async throws -> DueMessage? { try await identity.deliveries.claim() }

  /// Signs a user in with a backup code, and returns the outcome or the name of the error.
  func signIn(_ email: String, password: String, code: String) async throws -> String {
    let pool = try await euPool
    let outcome = try await identity.signIns.password(
      pool, email: email, password: Secret(password), address: "a")
    guard case .secondFactorDue(let account, let pending, _) = outcome else { return "no code due" }
    let factor = account.factors.first?.id.text ?? ""
    do {
      _ = try await identity.signIns.finalize(
        project: pool.project, tenant: pool.tenant, pendingCredential: pending,
        enrollment: factor, code: TypedCode(code))
      return "signed in"
    } catch {
      return "\(error)"
    }
  }
}
