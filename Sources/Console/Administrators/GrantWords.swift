import Identity
import Templating

/// How a role is shown where its stored name and permissions don't say it best.
private struct RoleWording {
  var name: String?
  /// Who has the role, such as “support agent”.
  var noun: String?
  /// A summary of the permissions.
  let summary: String

  static let all: [Role: RoleWording] = [
    .owner: RoleWording(summary: "full access"),
    .policy: RoleWording(name: "policy admin", summary: "projects, tenants, MFA policy, keys"),
    .support: RoleWording(
      noun: "support agent", summary: "users, their factors, and sessions"),
    .auditor: RoleWording(summary: "read-only access to everything"),
  ]
}

enum GrantWords {
  /// Why the last administrator who can manage administrators must stay.
  static var lastOwner: String {
    let permission = Permission.manageAdministrators
    let nouns = Words.list(permission.roles.reversed().map(\.noun), "or")
    return
      "The instance needs at least one \(nouns). Make someone else \(permission.holder) first."
  }
}

extension Role {
  /// The role's display name.
  var name: String { RoleWording.all[self]?.name ?? rawValue }

  /// Who has the role.
  var noun: String { RoleWording.all[self]?.noun ?? name }

  /// A summary of the role's permissions.
  var summary: String {
    RoleWording.all[self]?.summary
      ?? Words.list(Permission.allCases.filter(permissions.contains).map(\.activity))
  }
}

extension Permission {
  /// The names of the roles that have the permission, narrowest first: “policy admin or owner”.
  var roleNames: String { Words.list(roles.reversed().map(\.name), "or") }

  /// An administrator who has the permission: “a policy admin or an owner”.
  var holder: String {
    Words.list(
      roles.reversed().map { role in
        "aeiou".contains(role.noun.prefix(1)) ? "an \(role.noun)" : "a \(role.noun)"
      }, "or")
  }

  /// The administrators who have the permission: “policy admins and owners”.
  var holders: String { Words.list(roles.reversed().map { "\($0.noun)s" }) }

  /// Another administrator with the permission, for one who can't act on themselves: “another
  /// owner”.
  var otherHolder: String { "another \(Words.list(roles.reversed().map(\.noun), "or"))" }
}

extension Grant {
  /// The scope of the grant: `the instance`, `acme-retail`, `acme-retail / eu-shop-1a2b3`.
  var placeInWords: String {
    guard let project else { return "the instance" }
    guard let tenant else { return project.text }
    return "\(project.text) / \(tenant.text)"
  }

  /// The role and its scope, with IDs in a monospaced font.
  var place: Markup {
    var html = HTML()
    html.text(role.name)
    guard project != nil else {
      html.raw(" of the instance")
      return html.markup
    }
    html.raw(" of <span class=\"mono\">")
    html.text(placeInWords)
    html.raw("</span>")
    return html.markup
  }
}

extension [Grant] {
  /// One line per grant, for a table cell.
  var cell: Markup {
    var html = HTML()
    html.raw("<div>")
    if isEmpty { html.raw("<span class=\"soft\">none</span>") }
    for (index, grant) in enumerated() {
      if index > 0 { html.raw("<br>") }
      html.add(grant.place)
    }
    html.raw("</div>")
    return html.markup
  }
}
