import Crypto
import Database

/// What the provider tells about a sign-in: its session, and whether it had a second factor.
package struct ProviderSession: Sendable {
  /// The ID of the session at the provider; empty if there is none.
  package let id: String
  /// Whether the provider verified a second factor.
  package let isSecondFactor: Bool

  package init(id: String, isSecondFactor: Bool) {
    (self.id, self.isSecondFactor) = (id, isSecondFactor)
  }

  /// The code of the verification in the audit log.
  var verification: String { isSecondFactor ? "provider-mfa" : "provider" }
}

/// How a session's administrator and the provider belong together.
public struct SessionProvider: Sendable {
  /// The name of the provider with which the administrator can confirm their identity; nil if they
  /// aren't linked with the current one.
  public let name: String?
  /// Whether the session began with the provider.
  public let isOrigin: Bool
  /// When the administrator last confirmed their identity at the provider in this session.
  public let provedAt: Instant?

  /// Whether nothing is known of a provider.
  static let none = SessionProvider(name: nil, isOrigin: false, provedAt: nil)
}

extension ConsoleSessions {
  /// The secret of a ticket between two steps of a sign-in: a mark of the password, and what the
  /// provider told if the first step was a sign-in there.
  static func ticketSecret(
    of id: ID<Administrator>, provider: ProviderSession?, _ connection: borrowing Connection
  ) throws -> Secret {
    var bytes = mark(try Administrators.passwordHash(of: id, connection)).revealedBytes
    if let provider { bytes += [1] + Array(provider.id.utf8) }
    return Secret(bytes)
  }
}

extension ConsoleTicket {
  /// The mark of the password in a ticket between two steps.
  var passwordMark: Secret {
    Secret(Array(secret.revealedBytes.prefix(ConsoleSessions.markLength)))
  }

  /// What the provider told in the first step; nil if that was a password.
  var provider: ProviderSession? {
    let rest = secret.revealedBytes.dropFirst(ConsoleSessions.markLength)
    guard rest.first == 1 else { return nil }
    return ProviderSession(
      id: String(decoding: rest.dropFirst(), as: UTF8.self), isSecondFactor: false)
  }
}
