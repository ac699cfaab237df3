import Identity
import Localization
import MailText
import Templating

enum GrantText {
  static let breakGlass = Message(
    """
    This is the break-glass account. Turn on password sign-in first. To turn it off again, choose \
    another break-glass account.
    """)

  static var lastOwner: Message {
    Message(
      """
      At least one administrator who can sign in needs this role without an end date: {roles}. \
      Grant it to someone else first.
      """, ["roles": Permission.manageAdministrators.roleNames])
  }
}

extension Role {
  var title: Message { RoleText.of(self).title }

  var summary: Message { RoleText.of(self).summary }
}

extension Permission {
  /// The roles that have the permission, narrowest first, for a text after a colon: “policy admin
  /// or owner”.
  var roleNames: Message.Value { .choice(roles.reversed().map(\.name)) }
}

extension Grant {
  var place: Markup {
    guard project != nil else {
      return Markup(html: Message("{role} (instance)", ["role": .message(role.name)]))
    }
    return Markup(
      html: Message(
        "{role} (<span class=\"mono\">{pool}</span>)",
        ["role": .message(role.name), "pool": .message(placeText)]))
  }
}

extension Grant {
  func place(until end: Instant?, _ times: Times) -> Markup {
    guard let end else { return place }
    var html = HTML()
    html.add(place)
    html.raw("<span class=\"sub\">")
    html.message(Message("through {end}", ["end": times.endValue(end)]))
    html.raw("</span>")
    return html.markup
  }
}

extension [Grant] {
  func cell(until ends: [Grant: Instant], _ times: Times) -> Markup {
    var html = HTML()
    html.raw("<div>")
    if isEmpty {
      html.raw("<span class=\"soft\">")
      html.message(Message("none"))
      html.raw("</span>")
    }
    for (index, grant) in enumerated() {
      if index > 0 { html.raw("<br>") }
      html.add(grant.place(until: ends[grant], times))
    }
    html.raw("</div>")
    return html.markup
  }
}
