import Database

/// An enrolled second factor.
public struct Factor: Sendable {
  /// The kinds of second factors.
  public enum Kind: String, Sendable, CaseIterable {
    /// One-time codes from an authenticator app.
    case totp
    /// One-time codes sent to a phone.
    case phone
  }

  /// The enrollment id.
  public let id: ID<Factor>
  /// The kind.
  public let kind: Kind
  /// The name that the user gave it.
  public let displayName: String?
  /// When it was enrolled.
  public let enrolledAt: Instant
  /// When a code of it last passed; nil when never since enrollment.
  public let lastUsedAt: Instant?
  /// The number of a phone, in E.164 form; nil for other kinds.
  public let phoneNumber: String?
  /// Until when its codes are refused; nil or past when they are not.
  public let suspendedUntil: Instant?

  /// The longest name, in characters of Unicode.
  public static let longestName = 100
  /// The longest enrollment ID, in bytes.
  static let longestID = 128

  /// The name for people.
  public var label: String { displayName ?? phoneNumber ?? "authenticator" }

  /// What an audit row calls it: kind, number, name and id.
  var words: String {
    switch kind {
    case .totp: "TOTP “\(label)” (\(id.text))"
    case .phone:
      ["phone", phoneNumber, displayName.map { "“\($0)”" }, "(\(id.text))"].compactMap { $0 }
        .joined(separator: " ")
    }
  }

  /// True while its codes are refused.
  public func isSuspended(at now: Instant) -> Bool { suspendedUntil.map { now < $0 } ?? false }

  static func isTooLong(_ name: String) -> Bool { name.unicodeScalars.count > longestName }

  static let columns: SQL = """
    enrollment_id, kind, display_name, enrolled_at, last_used_at, phone, suspended_until
    """

  /// How many columns these are.
  static let columnCount = 7

  init(_ row: borrowing Row) throws {
    id = ID(try row.value(0))
    let kind: String = try row.value(1)
    guard let known = Kind(rawValue: kind) else { throw Failure("unknown kind of factor") }
    self.kind = known
    displayName = try row.value(2)
    enrolledAt = Instant(microseconds: try row.value(3))
    lastUsedAt = (try row.value(4) as Int64?).map(Instant.init(microseconds:))
    phoneNumber = try row.value(5)
    suspendedUntil = (try row.value(6) as Int64?).map(Instant.init(microseconds:))
  }

  /// The factors of an account, in the order of their enrollment.
  static func all(of account: Int64, _ connection: borrowing Connection) throws -> [Factor] {
    try connection.all(
      "SELECT \(columns) FROM factor WHERE account_key = \(account) ORDER BY position"
    ) { try Factor($0) }
  }
}
