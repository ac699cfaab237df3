import Identity
import Localization
import MailText
import Templating

enum GrantText {
  static var lastOwner: Message {
    let permission = Permission.manageAdministrators
    return Message(
      """
      The instance needs at least one {owner} who can sign in and whose role has no end date. \
      Make someone else {holder} first.
      """,
      ["owner": .message(permission.nouns), "holder": .message(permission.holder)])
  }
}

extension Role {
  var title: Message { RoleText.of(self).title }

  var noun: Message { RoleText.of(self).noun }

  var summary: Message { RoleText.of(self).summary }
}

extension Permission {
  /// The names of the roles that have the permission, narrowest first: “policy admin or owner”.
  var roleNames: Message { .value(.choice(roles.reversed().map(\.name))) }

  /// An administrator who has the permission: “a policy admin or an owner”.
  var holder: Message { .value(.choice(texts(\.one, \.one))) }

  var startingHolder: Message { .value(.choice(texts(\.startingOne, \.one))) }

  /// The administrators who have the permission: “policy admins and owners”.
  var holders: Message { .value(.list(texts(\.many, \.many))) }

  var startingHolders: Message { .value(.list(texts(\.startingMany, \.many))) }

  /// Another administrator with the permission, for one who can't act on themselves: “another
  /// owner”.
  var otherHolder: Message { Message("another {role}", ["role": .message(nouns)]) }

  fileprivate var nouns: Message { .value(.choice(roles.reversed().map(\.noun))) }

  private func texts(
    _ first: (RoleText) -> Message, _ other: (RoleText) -> Message
  ) -> [Message] {
    roles.reversed().enumerated().map { index, role in
      index == 0 ? first(RoleText.of(role)) : other(RoleText.of(role))
    }
  }
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
    html.message(Message("until {end}", ["end": times.endValue(end)]))
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
