import Database
import JSON
import Text

/// The settings of a project or tenant that decide where links in emails lead.
///
/// A password reset link gives access to the account, so only an owner may change them.
struct LinkTargets {
  private let domains: [String]
  /// The configuration's other members, as JSON.
  private let text: String?

  /// The configuration members that belong to these settings.
  private static let paths = [
    ["notification", "sendEmail"], ["mobileLinksConfig"], ["client", "firebaseSubdomain"],
    ["inheritance", "emailSendingConfig"],
  ]

  init(domains: [String], members text: String?) {
    self.domains = domains
    self.text = text
  }

  private var members: [JSON?] {
    let root = text.flatMap { try? JSON.parse(Array($0.utf8)) }
    return Self.paths.map { path in
      path.reduce(root) { value, name in value?[UntrustedText(name)] }
    }
  }

  /// Whether links lead elsewhere than with `other`; parses members only if their text differs.
  private func differs(from other: LinkTargets) -> Bool {
    let isSameText =
      switch (text, other.text) {
      case (nil, nil): true
      case (let one?, let two?): one.isSameBytes(as: two)
      default: false
      }
    if !isSameText, members != other.members { return true }
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
  ///
  /// - Throws: ``LinkTargetError``.
  static func check(
    from old: LinkTargets, to new: LinkTargets, authorized: [String], by author: Author,
    in scope: Scope, _ profile: Profile, at now: Instant, _ connection: borrowing Connection
  ) throws {
    guard new.differs(from: old) else { return }
    guard
      try author.may(
        .changeLinks, project: scope.project, tenant: scope.tenant, at: now, connection)
    else {
      throw LinkTargetError.ownerOnly
    }
    guard let handler = new.handler, handler != old.handler else { return }
    guard isUsable(handler, authorized, profile) else {
      throw LinkTargetError.unauthorizedHost
    }
  }

  /// Whether links may open the given page of the application.
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

extension UserPoolEdit {
  var linkTargets: LinkTargets {
    LinkTargets(domains: project?.authorizedDomains ?? [], members: members)
  }
}
