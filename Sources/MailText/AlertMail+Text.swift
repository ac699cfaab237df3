import Identity
import Localization

extension AlertMail {
  var subject: Message {
    switch kind {
    case .spraying: Message("{place}: incorrect codes for many users", ["place": pool.place])
    case .drift: Message("{place}: most users' codes are early or late", ["place": pool.place])
    case .removals:
      Message("{place}: unusually many second factors removed", ["place": pool.place])
    case .textMessages:
      Message("{place}: daily text message limit reached", ["place": pool.place])
    }
  }

  var body: Message {
    Message(
      """
      {what}

      View the details in the console:

      {link}

      You won't receive another email while this continues. You're receiving this email because \
      you're an owner.

      """, ["what": .message(what), "link": .text(link)])
  }

  private var what: Message {
    let (count, place, at) = (Message.Value.number(count), pool.place, Message.Value.moment(at))
    return switch kind {
    case .spraying:
      Message(
        one: """
          In the 10 minutes before {at}, incorrect codes were entered for {count} user of \
          {place}. Someone may be guessing codes across many users.
          """,
        other: """
          In the 10 minutes before {at}, incorrect codes were entered for {count} users of \
          {place}. Someone may be guessing codes across many users.
          """, ["count": count, "place": place, "at": at])
    case .drift:
      Message(
        one: """
          In the hour before {at}, {count} user of {place} entered codes, and most were off by an \
          interval or more in the same direction. The server's clock may be wrong.
          """,
        other: """
          In the hour before {at}, {count} users of {place} entered codes, and most were off by an \
          interval or more in the same direction. The server's clock may be wrong.
          """, ["count": count, "place": place, "at": at])
    case .removals:
      Message(
        one: """
          In the hour before {at}, {count} user lost second factors in {place}, which is more \
          than five times as many as usual.
          """,
        other: """
          In the hour before {at}, {count} users lost second factors in {place}, which is more \
          than five times as many as usual.
          """, ["count": count, "place": place, "at": at])
    case .textMessages:
      Message(
        one: """
          {count} text message was sent to users of {place} today, in total or to one region. That \
          reaches the daily limit, or the three quarters of it that phone sign-in can use. No more \
          messages of that kind are sent until tomorrow (UTC). Someone may be requesting codes for \
          premium-rate numbers.
          """,
        other: """
          {count} text messages were sent to users of {place} today, in total or to one region. \
          That reaches the daily limit, or the three quarters of it that phone sign-in can use. No \
          more messages of that kind are sent until tomorrow (UTC). Someone may be requesting codes \
          for premium-rate numbers.
          """, ["count": count, "place": place])
    }
  }
}

extension ShownUsersMail {
  var subject: Message {
    Message("{place}: an administrator viewed many users", ["place": pool.place])
  }

  var body: Message {
    Message(
      """
      In the hour before {at}, lists and files in the console showed {administrator} {number} users \
      of {place}. A user counts each time.

      If you didn't expect this, check what the administrator did in the audit log:

      {link}

      You're receiving this email because you're an owner.

      """,
      [
        "number": .number(count), "place": pool.place,
        "administrator": .text(SafeName.unlinked(administrator)), "at": .moment(at),
        "link": .text(link),
      ])
  }
}
