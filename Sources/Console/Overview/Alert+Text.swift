import HTTP
import Identity
import Localization

extension Alert {
  func sentence(_ times: Times) -> Message {
    let (count, time) = (Message.Value.number(count), times.value(startedAt))
    return switch kind {
    case .spraying:
      Message(
        one: """
          Since {time}: incorrect codes for {count} user within 10 minutes. Someone may be guessing \
          codes across many users.
          """,
        other: """
          Since {time}: incorrect codes for {count} users within 10 minutes. Someone may be \
          guessing codes across many users.
          """, ["count": count, "time": time])
    case .drift:
      Message(
        one: """
          Since {time}: {count} user entered codes, and most are off by an interval or more in the \
          same direction. The server’s clock may be wrong.
          """,
        other: """
          Since {time}: {count} users entered codes, and most are off by an interval or more in the \
          same direction. The server’s clock may be wrong.
          """, ["count": count, "time": time])
    case .removals:
      Message(
        one: """
          Since {time}: {count} user lost second factors within an hour, more than five times as \
          many as usual.
          """,
        other: """
          Since {time}: {count} users lost second factors within an hour, more than five times as \
          many as usual.
          """, ["count": count, "time": time])
    case .textMessages:
      Message(
        one: """
          Since {time}: daily limit reached (for all messages or for phone sign-in) after {count} \
          text message. Someone may be requesting codes for premium-rate numbers.
          """,
        other: """
          Since {time}: daily limit reached (for all messages or for phone sign-in) after {count} \
          text messages. Someone may be requesting codes for premium-rate numbers.
          """, ["count": count, "time": time])
    }
  }

  /// The page that shows what happened; nil if the administrator can't open it.
  func evidence(for administrator: Administrator) -> Link? {
    switch kind {
    case .spraying:
      guard administrator.may(.findUsers, in: pool) else { return nil }
      return activity(.incorrect)
    case .drift:
      if administrator.may(.protectUsers, in: nil) {
        return Link(text: Message("Check server clock"), href: ConsolePaths.clock())
      }
      guard administrator.may(.findUsers, in: pool) else { return nil }
      return activity(nil)
    case .removals:
      guard administrator.may(.readAudit, in: pool) else { return nil }
      let query: Form = ["action": AuditGroup.removal.rawValue]
      return Link(
        text: Message("View removals"), href: query.query(of: ConsolePaths.audit(pool)))
    case .textMessages:
      guard administrator.may(.readMessages, in: pool) else { return nil }
      return Link(text: Message("View messages"), href: ConsolePaths.messages(pool))
    }
  }

  private func activity(_ results: AttemptResults?) -> Link {
    var query = Form()
    if let results { query.add("result", results.rawValue) }
    return Link(
      text: Message("View sign-in activity"),
      href: query.query(of: ConsolePaths.activity(pool)))
  }
}
