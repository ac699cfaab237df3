import Crypto
import Database
import Identity
import Testing

@testable import Console

extension World {
  /// Enables temporary and recovery codes in eu-shop.
  func allowBackupCodes() async throws {
    var settings = SupportRules()
    (settings.temporaryCodes, settings.recoveryCodes) = (true, true)
    try await identity.support.change(
      try await euScope, to: settings, by: Author(actor: .commandLine))
  }

  /// A user of eu-shop.
  func user(_ uid: String = World.chiara) async throws -> Account {
    let found = try await identity.accounts.find(try await euScope, ID(uid))
    return try #require(found)
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
    let scope = try await euScope
    let outcome = try await identity.signIns.password(
      scope, email: email, password: Secret(password), address: "a")
    guard case .secondFactorDue(let account, let pending, _) = outcome else { return "no code due" }
    let factor = account.factors.first?.id.text ?? ""
    do {
      _ = try await identity.signIns.finalize(
        project: scope.project, tenant: scope.tenant, pendingCredential: pending,
        enrollment: factor, code: code)
      return "signed in"
    } catch {
      return "\(error)"
    }
  }
}
