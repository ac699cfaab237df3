/// Why an agent acts on a user's account.
public enum SupportReason: String, CaseIterable, Sendable {
  /// The device is lost.
  case lost
  /// The device is stolen.
  case stolen
  /// Somebody else may have the secret or the codes.
  case compromised
  /// There is a new device.
  case replaced
  /// The codes are refused, though the device is there.
  case locked
  /// The user leaves.
  case left
  /// The device was lost and is here again.
  case found
  /// What was done before was a mistake.
  case mistake
  /// The user has asked for it.
  case asked
  /// Something else, which the note says.
  case other

  /// The reasons for which something is taken away from a user.
  public static let losses: [Self] = [
    .lost, .stolen, .compromised, .replaced, .locked, .left, .other,
  ]

  /// True when somebody else may hold what is taken away, so that it never comes back.
  public var isHostile: Bool { self == .stolen || self == .compromised }
}
