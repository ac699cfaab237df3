import HTTP
import Identity
import Localization

extension Alert {
  func sentence(_ times: Times) -> Message {
    let (count, time) = (Message.Value.number(count), times.value(startedAt))
    return switch kind {
    case .spraying: Message("scopes.alert-spraying", ["count": count, "time": time])
    case .drift: Message("scopes.alert-drift", ["count": count, "time": time])
    case .removals: Message("scopes.alert-removals", ["count": count, "time": time])
    case .textMessages:
      Message("scopes.alert-text-messages", ["count": count, "time": time])
    }
  }

  /// The page that shows what happened; nil if the administrator can't open it.
  func evidence(for administrator: Administrator) -> Link? {
    switch kind {
    case .spraying:
      guard administrator.may(.findUsers, in: scope) else { return nil }
      return activity(.incorrect)
    case .drift:
      if administrator.may(.protectUsers, in: nil) {
        return Link(text: Message("scopes.check-server-clock"), href: ConsolePaths.clock())
      }
      guard administrator.may(.findUsers, in: scope) else { return nil }
      return activity(nil)
    case .removals:
      guard administrator.may(.readAudit, in: scope) else { return nil }
      let query: Form = ["action": AuditAction.Group.removal.rawValue]
      return Link(
        text: Message("scopes.view-removals"), href: query.query(of: ConsolePaths.audit(scope)))
    case .textMessages:
      guard administrator.may(.readMessages, in: scope) else { return nil }
      return Link(text: Message("scopes.view-messages"), href: ConsolePaths.messages(scope))
    }
  }

  private func activity(_ results: ActivityQuery.Results?) -> Link {
    var query = Form()
    if let results { query.add("result", results.rawValue) }
    return Link(
      text: Message("scopes.view-sign-in-activity"),
      href: query.query(of: ConsolePaths.activity(scope)))
  }
}
