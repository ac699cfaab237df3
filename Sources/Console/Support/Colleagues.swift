import Identity
import Localization
import Templating

/// The administrators who can perform an action in an agent's place, and the link to send them.
struct ColleaguesView: ViewModel {
  /// What they can do instead of the agent.
  enum Deed {
    case restoreFactor, restoreFactors
  }

  let sentence: Message
  /// The page's absolute URL; nil if no other administrator can act.
  let link: String?

  /// Creates the view.
  ///
  /// - Parameters:
  ///   - colleagues: The administrators who can act.
  ///   - permission: The permission that they have.
  ///   - deed: What they can do.
  ///   - link: The page's absolute URL.
  ///   - scope: The project or tenant of the user.
  init(
    _ colleagues: Colleagues, with permission: Permission, to deed: Deed, link: String,
    in scope: Scope
  ) {
    sentence =
      if colleagues.count == 0 {
        deed.nobody(with: permission, in: scope)
      } else if colleagues.names.isEmpty {
        deed.administrators(colleagues.count)
      } else {
        deed.colleagues(Self.who(colleagues))
      }
    self.link = colleagues.count == 0 ? nil : link
  }

  /// Returns the names of the administrators and the number of the others.
  private static func who(_ colleagues: Colleagues) -> Message.Value {
    let others = colleagues.count - colleagues.names.count
    var who = colleagues.names.map { Message.value(.name(Words.short($0))) }
    if others > 0 { who.append(Message("support.other-colleagues", ["count": .number(others)])) }
    return .list(who)
  }

  static let keys: Keys<Self> = [
    .text(\.sentence),
    .text(\.link),
  ]
}

extension ColleaguesView.Deed {
  /// Returns that no other administrator can do it, and who can grant the role.
  fileprivate func nobody(with permission: Permission, in scope: Scope) -> Message {
    let holder = Message.Value.message(Permission.manageAdministrators.startingHolder)
    let role = permission.roles.last.map { Message.Value.message($0.name) } ?? .text("")
    let place = Message.Value.name(Words.short(scope.name))
    return switch self {
    case .restoreFactor:
      Message(
        "support.nobody-can-restore-factor", ["holder": holder, "role": role, "scope": place])
    case .restoreFactors:
      Message(
        "support.nobody-can-restore-factors", ["holder": holder, "role": role, "scope": place])
    }
  }

  /// Returns how many administrators can do it.
  fileprivate func administrators(_ count: Int) -> Message {
    switch self {
    case .restoreFactor:
      Message("support.administrators-can-restore-factor", ["count": .number(count)])
    case .restoreFactors:
      Message("support.administrators-can-restore-factors", ["count": .number(count)])
    }
  }

  /// Returns that the named administrators can do it.
  fileprivate func colleagues(_ who: Message.Value) -> Message {
    switch self {
    case .restoreFactor: Message("support.colleagues-can-restore-factor", ["who": who])
    case .restoreFactors: Message("support.colleagues-can-restore-factors", ["who": who])
    }
  }
}

extension SupportPages {
  /// Returns who can perform a page's action in place of the agent; nil if no one can because of
  /// the account's state.
  func colleagues<Action: SupportAction>(
    for action: Action.Type, on account: Account, _ target: SupportTarget,
    to deed: ColleaguesView.Deed
  ) async throws(Refusal) -> ColleaguesView? {
    let (administrators, context) = (identity.administrators, target.context)
    let (administrator, permission) = (
      context.signedIn.administrator, action.action.requirements.permission
    )
    guard administrator.obstacle(to: action.action, on: account, in: context.scope) == nil
    else { return nil }
    let found = try await refusing {
      try await administrators.colleagues(
        with: permission, in: context.scope, of: administrator)
    }
    return ColleaguesView(
      found, with: permission, to: deed, link: frames.publicURL.origin + target.address,
      in: context.scope)
  }
}
