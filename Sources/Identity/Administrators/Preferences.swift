/// An administrator's display preferences.
public struct Preferences: Hashable, Sendable {
  /// A color theme.
  public enum Theme: String, CaseIterable, Sendable {
    /// Matches the operating system.
    case system
    /// Dark text on a light background.
    case light
    /// Light text on a dark background.
    case dark
  }

  /// The time zone, as an IANA name such as `Europe/Berlin`.
  public var timeZone: String
  /// The color theme.
  public var theme: Theme

  /// Creates preferences, with the defaults of a new administrator.
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

  /// The fields, for comparison in the audit log.
  var auditFields: [AuditField] {
    [
      AuditField(.timeZone, .text(timeZone)), AuditField(.theme, .code(theme.rawValue)),
    ]
  }
}
