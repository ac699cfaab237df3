import Identity
import Localization
import MailText
import Templating

/// The administrators who can perform an action in an agent's place, and the link to send them.
struct OtherAdministratorsView: ViewModel {
  enum Purpose {
    case restoreFactor, restoreFactors, undoBulkRemoval
  }

  let sentence: Message
  /// The page's absolute URL; nil if no other administrator can act.
  let link: String?

  private init(
    _ otherAdministrators: OtherAdministrators, with permission: Permission, to purpose: Purpose,
    link: String, in pool: Pool
  ) {
    sentence =
      if otherAdministrators.count == 0 {
        purpose.noOne(with: permission, in: pool)
      } else if otherAdministrators.names.isEmpty {
        purpose.administrators(otherAdministrators.count)
      } else {
        purpose.named(Self.who(otherAdministrators))
      }
    self.link = otherAdministrators.count == 0 ? nil : link
  }

  /// Finds who can perform an action in place of an administrator, who has the permission; returns
  /// a view even if there's no one.
  ///
  /// `account` is the user that it's for; nil for several.
  static func find(
    _ administrators: Administrators, for action: ConsoleAction, on account: Account? = nil,
    in pool: Pool,
    of administrator: Administrator, to purpose: Purpose, link: String
  ) async throws -> Self {
    let permission = account.map(action.permission(on:)) ?? action.requirements.permission
    let found = try await administrators.otherAdministrators(
      with: permission, in: pool, of: administrator)
    return Self(found, with: permission, to: purpose, link: link, in: pool)
  }

  private static func who(_ otherAdministrators: OtherAdministrators) -> Message.Value {
    let others = otherAdministrators.count - otherAdministrators.names.count
    var who = otherAdministrators.names.map { Message.value(.name(Formatted.short($0))) }
    if others > 0 {
      who.append(Message(one: "{count} other", other: "{count} others", ["count": .number(others)]))
    }
    return .list(who)
  }

  static let keys: Keys<Self> = [
    .text(\.sentence),
    .text(\.link),
  ]
}

extension OtherAdministratorsView.Purpose {
  /// Returns that no other administrator can do it, and who can grant the role.
  fileprivate func noOne(with permission: Permission, in pool: Pool) -> Message {
    let granters = Permission.manageAdministrators.roleNames
    let role = permission.roles.last.map { Message.Value.message($0.name) } ?? .text("")
    let place = Message.Value.name(Formatted.short(pool.name))
    return switch self {
    case .restoreFactor:
      Message(
        """
        No other administrator can restore it. It requires a role in {scope}: {role}. Granting \
        that requires the {granters} role.
        """, ["granters": granters, "role": role, "scope": place])
    case .restoreFactors:
      Message(
        """
        No other administrator can restore them. It requires a role in {scope}: {role}. Granting \
        that requires the {granters} role.
        """, ["granters": granters, "role": role, "scope": place])
    case .undoBulkRemoval:
      Message(
        """
        No other administrator can undo it. It requires a role in {scope}: {role}. Granting \
        that requires the {granters} role.
        """, ["granters": granters, "role": role, "scope": place])
    }
  }

  fileprivate func administrators(_ count: Int) -> Message {
    switch self {
    case .restoreFactor:
      Message(
        one: "{count} administrator can restore it.",
        other: "{count} administrators can restore it.", ["count": .number(count)])
    case .restoreFactors:
      Message(
        one: "{count} administrator can restore them.",
        other: "{count} administrators can restore them.", ["count": .number(count)])
    case .undoBulkRemoval:
      Message(
        one: "{count} administrator can undo it.",
        other: "{count} administrators can undo it.", ["count": .number(count)])
    }
  }

  fileprivate func named(_ who: Message.Value) -> Message {
    switch self {
    case .restoreFactor: Message("Administrators who can restore it: {who}.", ["who": who])
    case .restoreFactors: Message("Administrators who can restore them: {who}.", ["who": who])
    case .undoBulkRemoval: Message("Administrators who can undo it: {who}.", ["who": who])
    }
  }
}
