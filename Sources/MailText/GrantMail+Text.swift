import Identity
import Localization

extension GrantMail {
  private var role: Message.Value { .message(grant.role.name) }
  private var place: Message.Value { .message(grant.placeText) }
  private var name: Message.Value { .text(SafeName.unlinked(holder)) }

  var subject: Message {
    switch event {
    case .given:
      Message(
        "{name}: role granted ({role}, {place})", ["name": name, "role": role, "place": place])
    case .changed:
      Message(
        "{name}: end date of a role changed ({role}, {place})",
        ["name": name, "role": role, "place": place])
    case .revoked:
      Message(
        "{name}: role revoked ({role}, {place})", ["name": name, "role": role, "place": place])
    case .ended:
      Message("{name}: role ended ({role}, {place})", ["name": name, "role": role, "place": place])
    case .ending:
      Message(
        "{name}: role ends within a week ({role}, {place})",
        ["name": name, "role": role, "place": place])
    }
  }

  var body: Message {
    guard let link else { return facts }
    return Message(
      """
      {facts}
      View it in the console:
      {link}

      """, ["facts": .message(facts), "link": .text(link)])
  }

  private var facts: Message {
    Message(
      """
      {what}

      Administrator: {name} ({email})
      Role: {role}
      Scope: {place}
      Ends: {end}
      By: {by}
      Time: {at}

      """,
      [
        "what": .message(what), "name": name, "email": .text(email), "role": role, "place": place,
        "end": end.map { .end($0) } ?? .message(Message("no end date")),
        "by": by.map { .text(SafeName.unlinked($0)) } ?? .message(Message("the server")),
        "at": .moment(at),
      ])
  }

  private var what: Message {
    switch (event, isOwn) {
    case (.given, true): Message("You have a new role in the console.")
    case (.given, false): Message("An administrator has a new role in the console.")
    case (.changed, true): Message("The end date of one of your roles in the console was changed.")
    case (.changed, false):
      Message("The end date of an administrator's role in the console was changed.")
    case (.revoked, true): Message("One of your roles in the console was revoked.")
    case (.revoked, false): Message("A role of an administrator in the console was revoked.")
    case (.ended, true): Message("One of your roles in the console has reached its end date.")
    case (.ended, false):
      Message("A role of an administrator in the console has reached its end date.")
    case (.ending, true):
      Message(
        """
        One of your roles in the console ends soon. If you still need it, ask for a later end date.
        """)
    case (.ending, false):
      Message(
        """
        A role of an administrator in the console ends soon. If it's still needed, change the end \
        date.
        """)
    }
  }
}
