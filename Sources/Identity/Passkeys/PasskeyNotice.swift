import Database

/// A change to an administrator's passkeys.
public struct PasskeyMail: Sendable {
  /// The change.
  public enum Change: Sendable {
    /// A passkey was added.
    case passkeyAdded(name: String)
    /// A passkey was removed.
    case passkeyRemoved(name: String)
  }

  /// The change.
  public let change: Change
  /// The administrator's email address.
  public let email: String
  /// The time of the change.
  public let at: Instant
}

extension Outbox {
  /// Notifies an administrator of a change to their passkeys.
  func notify(
    _ administrator: Administrator, _ change: PasskeyMail.Change, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let mail = PasskeyMail(change: change, email: administrator.email, at: now)
    try add("passkey", .passkey(mail), to: administrator, at: now, connection)
  }
}
