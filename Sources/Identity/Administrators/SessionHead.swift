import Database

/// The session data every page reads, without the grants.
struct SessionHead {
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

  init(_ row: inout Row) throws {
    id = try row.next()
    email = try row.next()
    name = try row.next()
    csrf = try row.next()
    createdAt = try row.next()
    lastSeenAt = try row.next()
    signIns = try row.next()
    let hasTOTP: Bool = try row.next()
    preferences = Preferences(timeZone: try row.next(), theme: try row.next())
    hasUsedPasskey = try row.next()
    factors = ReauthenticationMethod.all(totp: hasTOTP, passkey: try row.next())
    requiresPasskeys = try row.next()
    let limits = SessionLimits(
      idle: try row.next(), lifetime: try row.next(), secondFactor: try row.next())
    hasUsedProviderMFA = try row.next()
    let isFromProvider: Bool = try row.next()
    self.limits = limits.of(sessionFromProvider: isFromProvider)
    let provedAt: Instant? = try row.next()
    provider = SessionProvider(name: try row.next(), isOrigin: isFromProvider, provedAt: provedAt)
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
