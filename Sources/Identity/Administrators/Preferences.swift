/// How an administrator wants to read the console.
public struct Preferences: Hashable, Sendable {
  /// The colors of pages.
  public enum Theme: String, CaseIterable, Sendable {
    /// What the administrator's system has.
    case system
    /// Dark ink on light paper.
    case light
    /// Light ink on dark paper.
    case dark
  }

  /// The language of guides, as a tag of BCP 47 such as `en`.
  public var language: String
  /// The time zone of moments, as the IANA names it, such as `Europe/Berlin`.
  public var timeZone: String
  /// The colors.
  public var theme: Theme

  /// Makes preferences; what is left out is what an administrator begins with.
  public init(language: String = "en", timeZone: String = "UTC", theme: Theme = .system) {
    self.language = language
    self.timeZone = timeZone
    self.theme = theme
  }

  /// True when language and zone are words as tags and zones are made of.
  ///
  /// Whether there is such a language or zone is for the surface to know that offers them.
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

  /// The fields in words, for the audit log.
  var fields: [AuditField] {
    [
      AuditField("language", language), AuditField("time zone", timeZone),
      AuditField("colors", theme.rawValue),
    ]
  }
}
