import HTTP
import Identity

/// Somebody who need not be signed in.
struct Visitor: Sendable {
  let request: Request
  /// What was sent; empty for a page that is only asked for.
  let form: Form
  /// Proves that a form came from a page of ours; it lies in a cookie and in the form.
  let formToken: String
  /// Whether the browser has the cookie already.
  let hasFormToken: Bool
}

/// An administrator in a session.
struct SignedIn: Sendable {
  let request: Request
  /// What was sent, checked to come from a page of this session; empty otherwise.
  let form: Form
  let session: ConsoleSession

  var administrator: Administrator { session.administrator }

  /// How moments are written for them.
  var times: Times { Times(zone: session.preferences.timeZone) }

  /// The colors that they chose; nil for those of their system.
  var theme: String? {
    let theme = session.preferences.theme
    return theme == .system ? nil : theme.rawValue
  }

  /// Who acts, for audit rows.
  var author: Author {
    Author(
      actor: .administrator(administrator.id, name: administrator.displayName),
      address: request.peer, requestID: request.id.text)
  }

  /// What the query holds.
  var query: Form { request.target.query }
}

extension Administrator {
  /// The role with which somebody is named in the bar: the widest one that reaches a scope.
  func role(in scope: Scope?) -> String {
    let reaching = grants.filter { $0.reaches(scope) }
    for role in [Role.owner, .policy, .support, .auditor]
    where (reaching.isEmpty ? grants : reaching).contains(where: { $0.role == role }) {
      return role == .policy ? "policy admin" : role.rawValue
    }
    return "no role"
  }
}

extension Grant {
  fileprivate func reaches(_ scope: Scope?) -> Bool {
    guard let project else { return true }
    guard let scope, project == scope.project else { return false }
    return tenant == nil || tenant == scope.tenant
  }
}
