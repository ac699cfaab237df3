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
  /// The secret of a ticket between two steps of a sign-in: a mark of the password, and if the first
  /// step was a sign-in at the provider, a mark of the link and what the provider told.
  static func ticketSecret(
    of id: ID<Administrator>, provider: ProviderSession?, _ connection: borrowing Connection
  ) throws -> Secret {
    var bytes = mark(try Administrators.passwordHash(of: id, connection)).revealedBytes
    if let provider {
      let link = try AdministratorProviderLink.find(id, connection)
      bytes += [1] + (link?.mark.revealedBytes ?? []) + Array(provider.id.utf8)
    }
    return Secret(bytes)
  }
}

extension AdministratorProviderLink {
  /// A value that changes with the person.
  fileprivate var mark: Secret {
    Secret(Array(Store.digest("\(issuer)\n\(subject)").prefix(ConsoleSessions.markLength)))
  }

  /// Returns whether a ticket's first step was a sign-in of this person.
  func began(_ ticket: ConsoleTicket) -> Bool {
    ticket.linkMark == mark
  }
}

extension ConsoleTicket {
  /// The mark of the password in a ticket between two steps.
  var passwordMark: Secret {
    Secret(Array(secret.revealedBytes.prefix(ConsoleSessions.markLength)))
  }

  /// What the provider told in the first step; nil if that was a password.
  var provider: ProviderSession? {
    fromProvider.map { rest in
      ProviderSession(
        id: String(decoding: rest.dropFirst(ConsoleSessions.markLength), as: UTF8.self),
        isSecondFactor: false)
    }
  }

  /// The mark of the link that the first step used; nil if that was a password.
  fileprivate var linkMark: Secret? {
    fromProvider.map { Secret(Array($0.prefix(ConsoleSessions.markLength))) }
  }

  private var fromProvider: ArraySlice<UInt8>? {
    let rest = secret.revealedBytes.dropFirst(ConsoleSessions.markLength)
    return rest.first == 1 ? rest.dropFirst() : nil
  }
}
