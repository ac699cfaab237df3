import Database
public import IdentityToolkitClient

/// A user pool: a project's own users, or a tenant.
///
/// A value means that the pool existed when it was read.
public struct Pool: Hashable, Sendable {
  /// The database key, which never appears in URLs or responses.
  public let key: Int64
  public let project: ID<Project>
  /// The project number, which token refresh responses and resource names contain.
  public let projectNumber: Int64
  /// The tenant; nil for the project's own users.
  public let tenant: ID<Tenant>?
  /// The display name of the tenant, or of the project.
  public let name: String
  public let projectName: String
  /// Whether sign-in is disabled for the pool (`disableAuth`).
  public let isDisabled: Bool
  public let kind: PoolKind
  /// What the connection of the project may do; without a connection, read.
  public let access: AccessLevel

  static let columns: SQL = """
    s.scope_key, s.project_id, p.number, s.tenant_id, s.display_name, p.display_name, s.disabled,
      p.kind, \(accessColumn)
    """

  /// The access level of the connection of project `p`.
  static let accessColumn: SQL = """
    CASE WHEN p.kind <> 'hosted' THEN
      (SELECT l.access FROM connection l WHERE l.project_id = p.project_id) END
    """

  public var offers: Set<Capability> { kind.offers(at: access) }

  /// The ID of the tenant, or of the project.
  public var objectID: String { tenant?.text ?? project.text }

  /// Returns whether a pool is this one, or a tenant of this project.
  func contains(_ other: Pool) -> Bool {
    project == other.project && (tenant == nil || tenant == other.tenant)
  }

  /// The rowids of the pool's accounts.
  package var accountKeys: ClosedRange<Int64> { Self.accountKeys(of: key) }

  static func accountKeys(of key: Int64) -> ClosedRange<Int64> {
    (key << 40)...((key + 1) << 40 - 1)
  }

  static func key(ofAccount account: Int64) -> Int64 { account >> 40 }

  init(_ row: inout Row) throws {
    key = try row.next()
    project = try row.next()
    projectNumber = try row.next()
    tenant = ID(nonEmpty: try row.next())
    name = try row.next()
    projectName = try row.next()
    isDisabled = try row.next()
    kind = try row.next()
    access = (try row.next() as String?).flatMap(AccessLevel.init) ?? .read
  }
}

public enum PoolLookupError: Error, Sendable {
  case projectNotFound
  case projectDeleted
  /// The tenant never existed in the project.
  case tenantNotFound
  case tenantDeleted
}

/// Distinguishes the IDs of projects: 6 to 30 characters of a-z, 0-9, and hyphen, beginning with a
/// letter.
public enum Project {}

/// Distinguishes the IDs of tenants: the display name and five random characters.
public enum Tenant {}

enum PoolRules {
  static func isProjectID(_ id: String) -> Bool {
    let bytes = Array(id.utf8)
    guard (6...30).contains(bytes.count), bytes.last != UInt8(ascii: "-") else { return false }
    for (index, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): continue
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        if index == 0 { return false }
      default: return false
      }
    }
    return true
  }

  /// Returns whether a text is a display name of anything but a tenant: 1 to 100 characters without
  /// control characters, of which some can be seen.
  static func isDisplayName(_ name: String) -> Bool {
    !name.isEmpty && name.unicodeScalars.count <= 100
      && !name.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
      && name.ifVisible != nil
  }

  static func isTenantName(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    guard (4...20).contains(bytes.count) else { return false }
    for (index, byte) in bytes.enumerated() {
      switch byte | 0x20 {
      case UInt8(ascii: "a")...UInt8(ascii: "z") where byte >= 0x41: continue
      default:
        let digitOrHyphen =
          (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
        if index == 0 || !digitOrHyphen { return false }
      }
    }
    return true
  }

  /// Returns whether a text is a hostname, such as `localhost` or `app.example.com`: labels of a-z,
  /// 0-9, and hyphen, separated by dots (RFC 1123, section 2.1).
  static func isDomain(_ text: String) -> Bool {
    guard (1...253).contains(text.utf8.count) else { return false }
    return text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .allSatisfy { label in
        let hyphen = UInt8(ascii: "-")
        guard (1...63).contains(label.count), label.first != hyphen, label.last != hyphen else {
          return false
        }
        return label.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), hyphen:
            true
          default: false
          }
        }
      }
  }
}
