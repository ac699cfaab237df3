public import Database

public struct Preferences: Hashable, Sendable {
  public enum Theme: String, CaseIterable, Sendable, SQLConvertible {
    case system
    case light
    case dark
  }

  /// The time zone, as an IANA name such as `Europe/Berlin`.
  public var timeZone: String
  public var theme: Theme

  public init(timeZone: String = "UTC", theme: Theme = .system) {
    self.timeZone = timeZone
    self.theme = theme
  }

  /// True if the time zone is well-formed.
  ///
  /// Whether it exists is checked by the interface that offers it.
  var isPlausible: Bool {
    (1...64).contains(timeZone.utf8.count)
      && timeZone.unicodeScalars.allSatisfy { scalar in
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "/", "_", "+", "-": true
        default: false
        }
      }
  }

  var auditFields: [AuditField] {
    [
      AuditField(.timeZone, .text(timeZone)), AuditField(.theme, .code(theme.rawValue)),
    ]
  }
}
