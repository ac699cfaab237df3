public import Database

public enum SupportReason: String, CaseIterable, Sendable, SQLConvertible {
  case lost
  case stolen
  /// Someone else may have the secret or the codes.
  case compromised
  /// The user has a new device.
  case replaced
  /// Codes are rejected, although the user has the device.
  case locked
  /// The user is leaving.
  case left
  /// The lost device was found.
  case found
  case mistake
  /// The user requested it.
  case asked
  /// Another reason, described in the note.
  case other

  /// The reasons for removing something from a user.
  public static let losses: [Self] = [
    .lost, .stolen, .compromised, .replaced, .locked, .left, .other,
  ]

  /// Whether someone else may have what is removed, so that it must never be restored.
  public var isHostile: Bool { self == .stolen || self == .compromised }
}
