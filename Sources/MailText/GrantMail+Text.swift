import Identity
import Localization

extension GrantMail {
  private var role: Message.Value { .message(grant.role.name) }
  private var place: Message.Value { .message(grant.placeText) }
  private var name: Message.Value { .text(SafeName.unlinked(holder)) }

  var subject: Message {
    switch event {
    case .given:
      Message("mail.subject-grant-given", ["name": name, "role": role, "place": place])
    case .changed:
      Message("mail.subject-grant-changed", ["name": name, "role": role, "place": place])
    case .revoked:
      Message("mail.subject-grant-revoked", ["name": name, "role": role, "place": place])
    case .ended:
      Message("mail.subject-grant-ended", ["name": name, "role": role, "place": place])
    case .ending:
      Message("mail.subject-grant-ending", ["name": name, "role": role, "place": place])
    }
  }

  var body: Message {
    guard let link else { return facts }
    return Message("mail.grant-with-link", ["facts": .message(facts), "link": .text(link)])
  }

  private var facts: Message {
    Message(
      "mail.grant",
      [
        "what": .message(what), "name": name, "email": .text(email), "role": role, "place": place,
        "end": end.map { .end($0) } ?? .message(Message("mail.grant-without-end")),
        "by": by.map { .text(SafeName.unlinked($0)) } ?? .message(Message("mail.grant-by-server")),
        "at": .moment(at),
      ])
  }

  private var what: Message {
    switch (event, isOwn) {
    case (.given, true): Message("mail.grant-given-own")
    case (.given, false): Message("mail.grant-given")
    case (.changed, true): Message("mail.grant-changed-own")
    case (.changed, false): Message("mail.grant-changed")
    case (.revoked, true): Message("mail.grant-revoked-own")
    case (.revoked, false): Message("mail.grant-revoked")
    case (.ended, true): Message("mail.grant-ended-own")
    case (.ended, false): Message("mail.grant-ended")
    case (.ending, true): Message("mail.grant-ending-own")
    case (.ending, false): Message("mail.grant-ending")
    }
  }
}
