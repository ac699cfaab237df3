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
    link: String, in scope: Scope
  ) {
    sentence =
      if otherAdministrators.count == 0 {
        purpose.noOne(with: permission, in: scope)
      } else if otherAdministrators.names.isEmpty {
        purpose.administrators(otherAdministrators.count)
      } else {
        purpose.named(Self.who(otherAdministrators))
      }
    self.link = otherAdministrators.count == 0 ? nil : link
  }

  /// Finds who can perform an action in place of an administrator, who has the permission; returns
  /// a view even if there's no one.
  static func find(
    _ administrators: Administrators, for action: ConsoleAction, in scope: Scope,
    of administrator: Administrator, to purpose: Purpose, link: String
  ) async throws(Refusal) -> Self {
    let permission = action.requirements.permission
    let found = try await refusing {
      try await administrators.otherAdministrators(
        with: permission, in: scope, of: administrator)
    }
    return Self(found, with: permission, to: purpose, link: link, in: scope)
  }

  private static func who(_ otherAdministrators: OtherAdministrators) -> Message.Value {
    let others = otherAdministrators.count - otherAdministrators.names.count
    var who = otherAdministrators.names.map { Message.value(.name(Formatted.short($0))) }
    if others > 0 {
      who.append(Message("support.other-other-administrators", ["count": .number(others)]))
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
  fileprivate func noOne(with permission: Permission, in scope: Scope) -> Message {
    let holder = Message.Value.message(Permission.manageAdministrators.startingHolder)
    let role = permission.roles.last.map { Message.Value.message($0.name) } ?? .text("")
    let place = Message.Value.name(Formatted.short(scope.name))
    return switch self {
    case .restoreFactor:
      Message(
        "support.no-one-can-restore-factor", ["holder": holder, "role": role, "scope": place])
    case .restoreFactors:
      Message(
        "support.no-one-can-restore-factors", ["holder": holder, "role": role, "scope": place])
    case .undoBulkRemoval:
      Message(
        "support.no-one-can-undo-removal", ["holder": holder, "role": role, "scope": place])
    }
  }

  fileprivate func administrators(_ count: Int) -> Message {
    switch self {
    case .restoreFactor:
      Message("support.administrators-can-restore-factor", ["count": .number(count)])
    case .restoreFactors:
      Message("support.administrators-can-restore-factors", ["count": .number(count)])
    case .undoBulkRemoval:
      Message("support.administrators-can-undo-removal", ["count": .number(count)])
    }
  }

  fileprivate func named(_ who: Message.Value) -> Message {
    switch self {
    case .restoreFactor: Message("support.other-administrators-can-restore-factor", ["who": who])
    case .restoreFactors: Message("support.other-administrators-can-restore-factors", ["who": who])
    case .undoBulkRemoval: Message("support.other-administrators-can-undo-removal", ["who": who])
    }
  }
}

extension SupportPages {
  /// Returns who can perform a page's action in place of the agent; nil if no one can because of
  /// the account's state.
  func otherAdministrators(
    for action: ConsoleAction, on account: Account, _ target: SupportTarget,
    to purpose: OtherAdministratorsView.Purpose
  ) async throws(Refusal) -> OtherAdministratorsView? {
    let (administrator, scope) = (
      target.context.signedIn.administrator, target.context.scope
    )
    guard administrator.obstacle(to: action, on: account, in: scope) == nil else { return nil }
    return try await .find(
      identity.administrators, for: action, in: scope, of: administrator, to: purpose,
      link: frames.publicURL.origin + target.address)
  }
}
