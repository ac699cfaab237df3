import Identity
import Templating

extension Role {
  /// The role in words.
  var name: String { self == .policy ? "policy admin" : rawValue }

  /// What it is for.
  var summary: String {
    switch self {
    case .owner: "everything"
    case .policy: "projects, tenants, MFA policy, keys"
    case .support: "users, their factors and sessions"
    case .auditor: "reads everything, changes nothing"
    }
  }
}

extension Grant {
  /// Where it counts: `the instance`, `acme-retail`, `acme-retail / eu-shop-1a2b3`.
  var placeInWords: String {
    guard let project else { return "the instance" }
    guard let tenant else { return project.text }
    return "\(project.text) / \(tenant.text)"
  }

  /// Role and place, the ids as ids.
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
  /// A line for each, for the cell of a table.
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
