import Identity
import Templating

extension Role {
  /// The role's display name.
  var name: String { self == .policy ? "policy admin" : rawValue }

  /// A summary of the role's permissions.
  var summary: String {
    switch self {
    case .owner: "full access"
    case .policy: "projects, tenants, MFA policy, keys"
    case .support: "users, their factors, and sessions"
    case .auditor: "read-only access to everything"
    }
  }
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
