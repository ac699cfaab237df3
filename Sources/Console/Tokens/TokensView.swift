import Identity
import Localization
import Templating

struct NewTokenView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let name: String
  let role: ServiceTokenRole?
  let fields: ActionFields

  /// The roles whose permissions the administrator has in this scope.
  private var choices: [RoleChoice] {
    let roles = ServiceTokenRole.allCases.filter { role in
      role.permissions.allSatisfy { context.may($0) }
    }
    return roles.enumerated().map { index, role in
      RoleChoice(role: role, isFirst: index == 0, isChecked: role == self.role)
    }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("scopeName") { $0.context.scope.name },
    .flag("isForProject") { $0.context.scope.tenant == nil },
    .text("action") { ConsolePaths.newToken($0.context.scope) },
    .text("cancel") { ConsolePaths.keys($0.context.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text(\.name),
    .text("nameError") { $0.frame.error(at: "name") },
    .list("roles") { $0.choices },
    .text("roleError") { $0.frame.error(at: "role") },
    .object("authorization") { $0.fields },
  ]
}

struct RoleChoice: ViewModel {
  let role: ServiceTokenRole
  let isFirst: Bool
  let isChecked: Bool

  static let keys: Keys<Self> = [
    // The first option has the field's name as its ID, as the target of the error summary.
    .text("id") { $0.isFirst ? "role" : "role-\($0.role.rawValue)" },
    .text("value") { $0.role.rawValue },
    .text("label") { $0.role.name },
    .text("hint") { $0.role.hint },
    .flag(\.isChecked),
  ]
}

struct CreatedTokenView: ViewModel {
  let frame: FrameView
  let scope: Scope
  let token: ServiceToken
  let text: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { $0.token.name },
    .text("role") { $0.token.role.name },
    .text(\.text),
    .text("list") { ConsolePaths.keys($0.scope) },
  ]
}

struct TokenRevocationView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let token: ServiceToken

  private var facts: [Fact] {
    [
      Fact(Message("Role"), token.role.name),
      Fact(Message("Created by"), HTML.isolated(token.createdBy)),
      Fact(Message("Created"), frame.times.past(token.createdAt)),
      Fact(
        Message("Last used"),
        frame.times.lastUse(token.lastUsedAt, since: token.createdAt)),
    ]
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { $0.token.name },
    .text("action") { ConsolePaths.tokenRevocation($0.context.scope, $0.token.id.text) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("keep") { ConsolePaths.keys($0.context.scope) },
    .list("facts") { $0.facts },
  ]
}
