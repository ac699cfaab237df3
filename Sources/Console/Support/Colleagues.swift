import Identity
import Templating

/// The administrators who can perform an action in an agent's place, and the link to send them.
struct ColleaguesView: ViewModel {
  let sentence: String
  /// The page's absolute URL; nil if no other administrator can act.
  let link: String?

  /// Creates the view.
  ///
  /// - Parameters:
  ///   - colleagues: The administrators who can act.
  ///   - permission: The permission that they have.
  ///   - deed: What they can do, such as “restore it”.
  ///   - link: The page's absolute URL.
  ///   - scope: The project or tenant of the user.
  init(
    _ colleagues: Colleagues, with permission: Permission, to deed: String, link: String,
    in scope: Scope
  ) {
    let others = colleagues.count - colleagues.names.count
    let names = colleagues.names.map { Words.isolated($0) }
    let all =
      names.isEmpty
      ? Words.count(colleagues.count, "administrator", "administrators")
      : Words.list(names + (others > 0 ? [Words.count(others, "other", "others")] : []))
    sentence =
      colleagues.count == 0
      ? "No other administrator can \(deed). \(Words.sentence(Permission.manageAdministrators.holder)) can grant the \(permission.roles.last?.name ?? "") role in \(Words.isolated(scope.name))."
      : "\(all) can \(deed)."
    self.link = colleagues.count == 0 ? nil : link
  }

  static let keys: Keys<Self> = [
    .text("sentence") { $0.sentence },
    .text("link") { $0.link },
  ]
}

extension SupportPages {
  /// Returns who can perform a page's action in place of the agent; nil if no one can because of
  /// the account's state.
  func colleagues<Action: SupportAction>(
    for action: Action.Type, on account: Account, _ target: SupportTarget, to deed: String
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
