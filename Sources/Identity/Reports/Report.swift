/// A report about a pool or the instance; the raw value is its stored name and the end of its address.
public enum Report: String, CaseIterable, Sendable {
  /// The numbers of users and of enrolled users over time.
  case enrollment
  /// Removals of second factors by reason and agent.
  case removals
  /// Current and past exemptions from MFA.
  case exemptions
  /// Accounts whose codes aren't checked.
  case locked
  /// Second factors that have never been used, haven't been used for long, were enrolled long ago,
  /// or share a secret with another user's.
  case factors

  public var permission: Permission {
    switch self {
    case .enrollment: .seePool
    case .removals: .readAudit
    case .exemptions, .locked, .factors: .findUsers
    }
  }
}

public struct Reports: Sendable {
  let store: Store
}
