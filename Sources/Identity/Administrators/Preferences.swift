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

  /// The language of guides, as a BCP 47 tag such as `en`.
  public var language: String
  /// The time zone, as an IANA name such as `Europe/Berlin`.
  public var timeZone: String
  /// The color theme.
  public var theme: Theme

  /// Creates preferences, with the defaults of a new administrator.
  public init(language: String = "en", timeZone: String = "UTC", theme: Theme = .system) {
    self.language = language
    self.timeZone = timeZone
    self.theme = theme
  }

  /// True if the language and time zone are well-formed.
  ///
  /// Whether they exist is checked by the interface that offers them.
  var isPlausible: Bool {
    Self.isName(language, "-") && Self.isName(timeZone, "/_+-")
  }

  private static func isName(_ text: String, _ others: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { scalar in
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: others.unicodeScalars.contains(scalar)
        }
      }
  }

  /// The fields, for comparison in the audit log.
  var auditFields: [AuditField] {
    [
      AuditField(.language, .text(language)), AuditField(.timeZone, .text(timeZone)),
      AuditField(.theme, .code(theme.rawValue)),
    ]
  }
}
