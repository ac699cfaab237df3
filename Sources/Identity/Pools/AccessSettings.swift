import Database
import JSON
import Text

/// The settings of a project or tenant that give access to accounts: where links in emails lead, and
/// the fixed codes of test phone numbers.
///
/// A password reset link, or the code of a user's number, is enough to sign in, so only an owner may
/// change them.
struct AccessSettings {
  private let domains: [String]
  /// The configuration's other members.
  private let stored: StoredMembers

  /// The configuration members that belong to these settings.
  private static let paths =
    [
      ["notification", "sendEmail"], ["mobileLinksConfig"], ["client", "firebaseSubdomain"],
      ["inheritance", "emailSendingConfig"],
    ] + TestNumber.paths

  init(domains: [String], members: StoredMembers) {
    self.domains = domains
    stored = members
  }

  /// The members; one without content is the same as none.
  private var members: [JSON?] {
    let root = stored.content.root
    return Self.paths.map { path in
      let value = path.reduce(root) { value, name in value?[name] }
      let isEmpty =
        value == false || value?.isNull == true || value?.textValue == ""
        || value?.objectValue?.isEmpty == true
      return isEmpty ? nil : value
    }
  }

  /// Whether the settings differ from `other`; reads members only if their text differs.
  private func differs(from other: AccessSettings) -> Bool {
    if stored != other.stored, members != other.members { return true }
    return domains != other.domains
      && Set(domains.map { $0.lowercased() }) != Set(other.domains.map { $0.lowercased() })
  }

  /// The URL of the application's own page for links; nil to use the server's.
  private var handler: String? {
    guard let text = members[0]?["callbackUri"]?.textValue?.text, !text.isEmpty else { return nil }
    return text
  }

  /// Checks a change of these settings: its author, and that the application's page for links is
  /// on an authorized domain.
  static func check(
    from old: AccessSettings, to new: AccessSettings, authorized: [String], by author: Author,
    in project: ID<Project>, _ tenant: ID<Tenant>?, _ profile: Profile, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    guard new.differs(from: old) else { return }
    guard try author.may(.changeLinks, project: project, tenant: tenant, at: now, connection) else {
      throw PoolError.ownerOnly
    }
    guard new.stored != old.stored, let handler = new.handler, handler != old.handler else {
      return
    }
    guard isUsable(handler, authorized, profile) else {
      throw PoolError.unauthorizedHost
    }
  }

  /// Whether links may open the given page of the application.
  static func isUsable(_ handler: String, _ authorized: [String], _ profile: Profile) -> Bool {
    guard !handler.utf8.contains(UInt8(ascii: "#")) else { return false }
    do { try ContinueURL.check(handler, authorized, profile) } catch { return false }
    return true
  }
}

extension PoolEdit {
  var accessSettings: AccessSettings {
    AccessSettings(domains: project?.authorizedDomains ?? [], members: storedMembers)
  }
}
