import Database

/// The session data every page reads, without the grants.
struct SessionHead {
  static let columns = 10

  let id: ID<Administrator>
  let email: String
  let name: String
  let csrf: String
  let createdAt: Instant
  let lastSeenAt: Instant
  let signIns: Int
  let hasSecondFactor: Bool
  let preferences: Preferences

  init(_ row: borrowing Row) throws {
    id = ID(try row.value(0))
    email = try row.value(1)
    name = try row.value(2)
    csrf = try row.value(3)
    createdAt = Instant(microseconds: try row.value(4))
    lastSeenAt = Instant(microseconds: try row.value(5))
    signIns = try row.value(6)
    hasSecondFactor = try row.value(7)
    preferences = Preferences(
      timeZone: try row.value(8),
      theme: Preferences.Theme(rawValue: try row.value(9)) ?? .system)
  }

  /// Returns the state of the second factor; administrators who need one can sign in once without
  /// it to set it up.
  func secondFactor(of administrator: Administrator) -> SecondFactorState {
    if hasSecondFactor { return .enrolled }
    guard administrator.mustHaveSecondFactor else { return .optional }
    // Sessions from before sign-ins were counted have a count of 0.
    return signIns < 1 ? .optional : signIns == 1 ? .dueNext : .due
  }
}
