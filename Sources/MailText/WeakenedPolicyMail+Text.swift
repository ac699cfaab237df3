import Identity
import Localization

extension Pool {
  var place: Message.Value {
    let name = SafeName.plain(name)
    guard tenant != nil else { return .text(name) }
    return .message(
      Message(
        "{project} / {tenant}",
        ["project": .text(SafeName.plain(projectName)), "tenant": .text(name)]))
  }
}

extension WeakenedPolicyMail {
  var subject: Message { Message("{place}: MFA policy weakened", ["place": pool.place]) }

  func body(in catalog: Catalog) -> Message {
    Message(
      """
      {by} changed the MFA policy of {place} on {at}:

      {changes}

      {reason}

      If you didn't expect this, review the policy and the audit log in the console.

      You're receiving this email because you're an owner.

      """,
      [
        "by": .text(SafeName.unlinked(by)), "place": pool.place, "at": .moment(at),
        "changes": changes.lines(in: catalog),
        "reason": .message(why),
      ])
  }

  private var why: Message {
    reason.map {
      Message(
        "Reason: {reason}",
        ["reason": .text(SafeName.unlinked($0, longest: ActionRequest.longestNote))])
    } ?? Message("No reason given.")
  }
}

extension [PolicyChange] {
  func lines(in catalog: Catalog) -> Message.Value {
    .text(map { catalog.text($0.line) }.joined(separator: "\n"))
  }
}

extension PolicyChange {
  fileprivate var line: Message {
    let (from, to) = (Message.Value.message(from.message), Message.Value.message(to.message))
    return switch field {
    case .totp: Message("  TOTP: {from} → {to}", ["from": from, "to": to])
    case .adjacentIntervals:
      Message("  Adjacent intervals: {from} → {to}", ["from": from, "to": to])
    case .sms: Message("  SMS: {from} → {to}", ["from": from, "to": to])
    case .state: Message("  State: {from} → {to}", ["from": from, "to": to])
    case .pattern: Message("  Enrollment pattern: {from} → {to}", ["from": from, "to": to])
    case .enforcement: Message("  Server enforcement: {from} → {to}", ["from": from, "to": to])
    }
  }
}

extension NarrowedSignInMail {
  var subject: Message {
    Message("{place}: users can no longer sign in", ["place": pool.place])
  }

  var body: Message {
    Message(
      """
      {by} changed how users sign in to {place} on {at}:

      {changes}

      {users}

      Review the sign-in methods in the console:

      {link}

      You won't receive another email about this on the same day. You're receiving this email \
      because you're an owner.

      """,
      [
        "by": .text(SafeName.unlinked(by)), "place": pool.place, "at": .moment(at),
        "changes": .message(changes), "users": .message(users), "link": .text(link),
      ])
  }

  private var changes: Message {
    if let provider {
      return Message(
        "  Identity provider {id} was turned off, changed, or removed.",
        ["id": .text(SafeName.unlinked(provider))])
    }
    if losesPassword, losesEmailLink {
      return Message("  Email/Password and email link are off.")
    }
    return losesPassword ? Message("  Email/Password is off.") : Message("  Email link is off.")
  }

  private var users: Message {
    guard !found.isCut else {
      return Message(
        "{count} or more users with a second factor have no other way to sign in.",
        ["count": .number(found.users)])
    }
    return Message(
      one: "{count} user with a second factor has no other way to sign in.",
      other: "{count} users with a second factor have no other way to sign in.",
      ["count": .number(found.users)])
  }
}
