import Database
import JSON

/// The settings of a project or tenant that decide where links in emails lead.
///
/// A link to reset a password is a key to the account, so only an owner may change them.
struct LinkTargets: Equatable {
  private let domains: Set<String>
  private let members: [JSON?]

  /// The members of a configuration that are among them.
  private static let paths = [
    ["notification", "sendEmail"], ["mobileLinksConfig"], ["client", "firebaseSubdomain"],
    ["inheritance", "emailSendingConfig"],
  ]

  init(domains: [String] = [], members text: String?) {
    self.domains = Set(domains.map { $0.lowercased() })
    let root = text.flatMap { try? JSON.parse(Array($0.utf8)) }
    members = Self.paths.map { path in
      path.reduce(root) { value, name in value?[UntrustedText(name)] }
    }
  }

  /// The address of the application's own page for links; nil when links lead to the server's.
  private var handler: String? {
    guard let text = members[0]?["callbackUri"]?.textValue?.text, !text.isEmpty else { return nil }
    return text
  }

  /// Checks a change of these settings: its author, and that the application's page for links is
  /// on an authorized domain.
  ///
  /// - Throws: ``LinkTargetError``.
  static func check(
    from old: LinkTargets, to new: LinkTargets, authorized: [String], by author: Author,
    project: ID<Project>, tenant: ID<Tenant>? = nil, _ profile: Profile,
    _ connection: borrowing Connection
  ) throws {
    guard old != new else { return }
    guard try author.may(.changeLinks, project: project, tenant: tenant, connection) else {
      throw LinkTargetError.ownerOnly
    }
    guard let handler = new.handler, handler != old.handler else { return }
    guard isUsable(handler, authorized, profile) else {
      throw LinkTargetError.unauthorizedHost
    }
  }

  /// Whether links may lead to a page of the application's own.
  static func isUsable(_ handler: String, _ authorized: [String], _ profile: Profile) -> Bool {
    guard !handler.utf8.contains(UInt8(ascii: "#")) else { return false }
    do { try ContinueURL.check(handler, authorized, profile) } catch { return false }
    return true
  }
}

/// Why settings that decide where links in emails lead can't be changed.
public enum LinkTargetError: Error, Sendable {
  /// Only an owner may change them.
  case ownerOnly
  /// The host of `callbackUri` isn't an authorized domain.
  case unauthorizedHost
}

extension Author {
  /// Whether the author has a permission, by the grants of this moment.
  ///
  /// The command line and the emulator's own token have all of them.
  func may(
    _ permission: Permission, project: ID<Project>, tenant: ID<Tenant>?,
    _ connection: borrowing Connection
  ) throws -> Bool {
    switch actor {
    case .commandLine, .emulatorOwner, .server: return true
    case .user, .nobody: return false
    case .administrator(let id, _):
      let administrator = try Administrators.present(id, connection)
      return administrator?.may(permission, project: project, tenant: tenant) ?? false
    case .serviceToken(let id, _):
      let role = try connection.first(
        "SELECT role FROM service_token WHERE token_id = \(id.text) AND revoked_at IS NULL"
      ) { try $0.value(0) as String }
      return role.flatMap(ServiceTokenRole.init)?.permissions.contains(permission) ?? false
    }
  }
}

extension ProjectEdit {
  var linkTargets: LinkTargets { LinkTargets(domains: authorizedDomains, members: members) }
}
