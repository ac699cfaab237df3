import Crypto
import Database

/// What a sign-in at the provider proves, as in the audit log.
package enum ProviderProof: String, Sendable {
  case identity = "provider"
  /// The person's identity with a second factor, as the provider says.
  case secondFactor = "provider-mfa"
}

public struct SessionProvider: Sendable {
  /// The name of the provider with which the administrator can confirm their identity; nil if they
  /// aren't linked with the current one.
  public let name: String?
  public let isOrigin: Bool
  public let provedAt: Instant?

  static let none = SessionProvider(name: nil, isOrigin: false, provedAt: nil)

  var isProved: Bool { name != nil && (isOrigin || provedAt != nil) }
}

extension ConsoleSessions {
  /// The secret of a ticket between two steps of a sign-in: a mark of the password, and if the first
  /// step was a sign-in at the provider, a mark of the link.
  static func ticketSecret(
    of id: ID<Administrator>, isFromProvider: Bool, _ connection: borrowing Connection
  ) throws -> Secret {
    let password = mark(try Administrators.passwordHash(of: id, connection)).revealedBytes
    guard isFromProvider else { return Secret(password) }
    guard let link = try AdministratorProviderLink.find(id, connection) else {
      throw Failure("link vanished")
    }
    return Secret(password + link.mark.revealedBytes)
  }
}

extension AdministratorProviderLink {
  /// A value that changes with the person.
  fileprivate var mark: Secret {
    Secret(Array(Store.digest("\(issuer)\n\(subject)").prefix(ConsoleSessions.markLength)))
  }

  func began(_ ticket: ConsoleTicket) -> Bool { ticket.linkMark == mark }
}

extension ConsoleTicket {
  var passwordMark: Secret {
    Secret(Array(secret.revealedBytes.prefix(ConsoleSessions.markLength)))
  }

  /// What the first step proved at the provider; nil if that was a password.
  var provider: ProviderProof? { linkMark.revealedBytes.isEmpty ? nil : .identity }

  fileprivate var linkMark: Secret {
    Secret(Array(secret.revealedBytes.dropFirst(ConsoleSessions.markLength)))
  }
}
