import Identity
import Localization

extension AlertMail {
  var subject: Message {
    switch kind {
    case .spraying: Message("mail.subject-alert-spraying", ["place": scope.place])
    case .drift: Message("mail.subject-alert-drift", ["place": scope.place])
    case .removals: Message("mail.subject-alert-removals", ["place": scope.place])
    case .textMessages:
      Message("mail.subject-alert-text-messages", ["place": scope.place])
    }
  }

  var body: Message {
    Message("mail.alert", ["what": .message(what), "link": .text(link)])
  }

  private var what: Message {
    let (count, place, at) = (Message.Value.number(count), scope.place, Message.Value.moment(at))
    return switch kind {
    case .spraying:
      Message("mail.alert-spraying", ["count": count, "place": place, "at": at])
    case .drift: Message("mail.alert-drift", ["count": count, "place": place, "at": at])
    case .removals:
      Message("mail.alert-removals", ["count": count, "place": place, "at": at])
    case .textMessages: Message("mail.alert-text-messages", ["count": count, "place": place])
    }
  }
}
