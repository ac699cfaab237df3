public import Database

/// An enrolled second factor.
public struct Factor: Sendable {
  public enum Kind: String, Sendable, CaseIterable, SQLConvertible {
    case totp
    case phone
  }

  /// The enrollment ID.
  public let id: ID<Factor>
  public let kind: Kind
  public let displayName: String?
  public let enrolledAt: Instant
  /// The time a code of the factor was last accepted; nil if none was since enrollment.
  public let lastUsedAt: Instant?
  /// The phone number in E.164 format; nil for other kinds.
  public let phoneNumber: String?
  /// The time until which its codes are rejected; nil or in the past if they're accepted.
  public let suspendedUntil: Instant?

  /// The maximum length of a name, in Unicode scalars.
  public static let longestName = 100
  /// The maximum length of an enrollment ID, in bytes.
  static let longestID = 128

  public var visibleName: String? { displayName?.ifVisible }

  public var label: String { visibleName ?? phoneNumber ?? "authenticator" }

  public func isSuspended(at now: Instant) -> Bool { suspendedUntil.map { now < $0 } ?? false }

  /// Returns the name to store; nil if it's blank or nobody could see it.
  static func storedName(_ name: String?) -> String? { name?.trimmed.ifVisible }

  static func isTooLong(_ name: String) -> Bool { name.unicodeScalars.count > longestName }

  static let columns: SQL = """
    enrollment_id, kind, display_name, enrolled_at, last_used_at, phone, suspended_until
    """

  init(_ row: inout Row) throws {
    id = try row.next()
    kind = try row.next()
    displayName = try row.next()
    enrolledAt = try row.next()
    lastUsedAt = try row.next()
    phoneNumber = try row.next()
    suspendedUntil = try row.next()
  }

  /// Reads an account's factors, in order of enrollment.
  static func all(of account: Int64, _ connection: borrowing Connection) throws -> [Factor] {
    try connection.all(
      "SELECT \(columns) FROM factor WHERE account_key = \(account) ORDER BY position"
    ) { try Factor(&$0) }
  }
}
