import Database

/// The session data every page reads, without the grants.
struct SessionHead {
  static let columns = 20

  let id: ID<Administrator>
  let email: String
  let name: String
  let csrf: String
  let createdAt: Instant
  let lastSeenAt: Instant
  let signIns: Int
  let factors: Set<ReauthenticationMethod>
  let hasUsedPasskey: Bool
  let requiresPasskeys: Bool
  let preferences: Preferences
  let limits: SessionLimits
  let hasUsedProviderMFA: Bool
  let provider: SessionProvider

  init(_ row: borrowing Row) throws {
    id = ID(try row.value(0))
    email = try row.value(1)
    name = try row.value(2)
    csrf = try row.value(3)
    createdAt = Instant(microseconds: try row.value(4))
    lastSeenAt = Instant(microseconds: try row.value(5))
    signIns = try row.value(6)
    hasUsedPasskey = try row.value(10)
    factors = ReauthenticationMethod.all(totp: try row.value(7), passkey: try row.value(11))
    requiresPasskeys = try row.value(12)
    preferences = Preferences(
      timeZone: try row.value(8),
      theme: Preferences.Theme(rawValue: try row.value(9)) ?? .system)
    limits = SessionLimits(
      idle: try row.value(13), lifetime: try row.value(14), secondFactor: try row.value(15)
    ).of(sessionFromProvider: try row.value(17))
    hasUsedProviderMFA = try row.value(16)
    provider = SessionProvider(
      name: try row.value(19), isOrigin: try row.value(17),
      provedAt: (try row.value(18) as Int64?).map(Instant.init(microseconds:)))
  }

  /// Returns the state of the second factor; administrators who need one can sign in once without
  /// it to set it up, unless all administrators need one.
  func secondFactor(of administrator: Administrator) -> SecondFactorState {
    if requiresPasskeys, !hasUsedPasskey, administrator.managesOthers {
      return factors.contains(.passkey) ? .passkeyUnused : .passkeyDue
    }
    if !factors.isEmpty || hasUsedProviderMFA { return .enrolled }
    if limits.requiresSecondFactor { return .due }
    guard administrator.mustHaveSecondFactor else { return .optional }
    // Sessions from before sign-ins were counted have a count of 0.
    return signIns < 1 ? .optional : signIns == 1 ? .dueNext : .due
  }
}
