/// A change of a pool's policy or of a user, with the state that it's based on.
///
/// It's plain data, so that a change planned in one transaction can be applied in a later one, such as
/// after a second administrator's approval; what was seen is compared with the state at that time.
public enum DirectoryChange: Sendable, Equatable {
  /// Replaces the MFA policy of a pool; `version` is the version of the policy seen.
  ///
  /// `seen` is nil in a request that the version before this one stored.
  case policy(PolicyEdit, version: Int, seen: PolicyEdit?)
  /// Removes one factor of a user, or all if it's nil; `seen` are all factors, in order of enrollment.
  case factorsRemoved(ID<Factor>?, seen: [ID<Factor>])
  /// Disables a user, which also ends the sessions, or enables one.
  case disabled(Bool, seen: Bool)
  /// Ends a user's sessions; `seen` is the time of the last revocation, in seconds since 1970.
  case sessionsEnded(seen: Int64)
}
