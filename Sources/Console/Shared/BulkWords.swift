import Identity
import Localization
import Templating

/// What the pages of an action on many users say about its kind.
struct BulkWords {
  let kind: BulkJob.Kind
  let users: Int

  init(_ job: BulkJob) { self.init(job.kind, job.users) }

  init(_ kind: BulkJob.Kind, _ users: Int) { (self.kind, self.users) = (kind, users) }

  /// Its name in a list and in the title of its page.
  var name: Message {
    switch kind {
    case .removal:
      Message(
        one: "Bulk removal for {count} user", other: "Bulk removal for {count} users",
        ["count": .number(users)])
    case .campaign:
      Message(
        one: "Enrollment campaign for {count} user",
        other: "Enrollment campaign for {count} users", ["count": .number(users)])
    case .sessions:
      Message(
        one: "End of sessions of {count} user", other: "End of sessions of {count} users",
        ["count": .number(users)])
    case .disabling:
      Message(
        one: "Disabling of {count} user", other: "Disabling of {count} users",
        ["count": .number(users)])
    }
  }

  /// What's asked before it starts, and of the second administrator.
  var question: Message {
    switch kind {
    case .removal:
      Message(
        one: "Remove second factors from {count} user?",
        other: "Remove second factors from {count} users?", ["count": .number(users)])
    case .campaign:
      Message(
        one: "Send an enrollment link to {count} user?",
        other: "Send enrollment links to {count} users?", ["count": .number(users)])
    case .sessions:
      Message(
        one: "End all sessions of {count} user?", other: "End all sessions of {count} users?",
        ["count": .number(users)])
    case .disabling:
      Message(
        one: "Disable {count} user?", other: "Disable {count} users?", ["count": .number(users)])
    }
  }

  /// What's requested or done, as on a button.
  var act: Message {
    switch kind {
    case .removal:
      Message(
        one: "Remove factors from {count} user", other: "Remove factors from {count} users",
        ["count": .number(users)])
    case .campaign:
      Message(
        one: "Send enrollment link to {count} user",
        other: "Send enrollment links to {count} users", ["count": .number(users)])
    case .sessions:
      Message(
        one: "End sessions of {count} user", other: "End sessions of {count} users",
        ["count": .number(users)])
    case .disabling:
      Message(
        one: "Disable {count} user", other: "Disable {count} users", ["count": .number(users)])
    }
  }

  var notYet: Message {
    switch kind {
    case .removal: Message("Nothing is removed yet.")
    case .sessions, .disabling, .campaign: Message("Nothing is changed yet.")
    }
  }

  var waiting: Message {
    switch kind {
    case .removal: Message("Nothing is removed until a second administrator approves.")
    case .sessions, .disabling, .campaign:
      Message("Nothing is changed until a second administrator approves.")
    }
  }

  var nobody: Message {
    switch kind {
    case .removal:
      Message("You can’t remove a factor from any user on this list. The reasons are below.")
    case .sessions, .campaign:
      Message("You can’t end a session of any user on this list. The reasons are below.")
    case .disabling: Message("You can’t disable any user on this list. The reasons are below.")
    }
  }

  /// What's told once it's started.
  func begun(isWaiting: Bool) -> Message {
    switch kind {
    case .removal where isWaiting:
      Message(
        one: "The removal for {count} user is pending approval.",
        other: "The removal for {count} users is pending approval.", ["count": .number(users)])
    case .removal:
      Message(
        one: "The removal for {count} user has started.",
        other: "The removal for {count} users has started.", ["count": .number(users)])
    case .campaign where isWaiting: Message("The campaign is pending approval.")
    case .campaign: Message("The links are being sent.")
    case .sessions where isWaiting:
      Message(
        one: "Ending the sessions of {count} user is pending approval.",
        other: "Ending the sessions of {count} users is pending approval.",
        ["count": .number(users)])
    case .sessions:
      Message(
        one: "The sessions of {count} user are being ended.",
        other: "The sessions of {count} users are being ended.", ["count": .number(users)])
    case .disabling where isWaiting:
      Message(
        one: "Disabling {count} user is pending approval.",
        other: "Disabling {count} users is pending approval.", ["count": .number(users)])
    case .disabling:
      Message(
        one: "{count} user is being disabled.", other: "{count} users are being disabled.",
        ["count": .number(users)])
    }
  }

  var leaving: Message {
    switch kind {
    case .removal: Message("You can leave this page. The removal continues on the server.")
    case .sessions, .disabling, .campaign:
      Message("You can leave this page. The action continues on the server.")
    }
  }

  var leavingUndo: Message {
    kind == .disabling
      ? Message("You can leave this page. The server continues to enable the users.")
      : Message("You can leave this page. The server continues to restore the factors.")
  }

  var stop: Message {
    switch kind {
    case .removal: Message("Stop removal")
    case .sessions, .disabling, .campaign: Message("Stop")
    }
  }

  func ended(isStopped: Bool) -> Message {
    switch (kind, isStopped) {
    case (.removal, true): Message("Removal stopped. Completed removals aren’t reverted.")
    case (.removal, false): Message("The removal finished before it could be stopped.")
    case (.campaign, true): Message("Campaign stopped. Its links no longer work.")
    case (.campaign, false): Message("The campaign ended before it could be stopped.")
    case (.sessions, true): Message("Stopped. Sessions that ended stay ended.")
    case (.disabling, true): Message("Stopped. Users who were disabled stay disabled.")
    case (.sessions, false), (.disabling, false):
      Message("The action finished before it could be stopped.")
    }
  }

  /// What an early end leaves.
  var unreverted: Message? {
    switch kind {
    case .removal: Message("Completed removals aren’t reverted.")
    case .disabling: Message("Users who were disabled stay disabled.")
    case .campaign, .sessions: nil
    }
  }

  /// The result of a line; nil where it's that of any kind.
  func result(_ item: BulkItem) -> Message? {
    guard kind == .sessions || kind == .disabling else { return nil }
    switch item.result {
    case .removed where kind == .sessions:
      return Message(
        one: "Ended {count} session", other: "Ended {count} sessions",
        ["count": .number(item.sessions)])
    case .removed where item.sessions == 0: return Message("Disabled")
    case .removed:
      return Message("Disabled, sessions ended: {count}", ["count": .number(item.sessions)])
    case .some(BulkResult.none):
      return kind == .sessions ? Message("No sessions") : Message("Already disabled")
    case .restored: return Message("Disabled, then enabled")
    case .restoredBefore: return Message("Disabled, then enabled before the undo")
    case .notRestored: return Message("Disabled, and changed since")
    case .stopped: return Message("Skipped: the action ended early")
    case .failed: return Message("Failed: act on this user individually")
    default: return nil
    }
  }

  /// The same for a cell of its file, where it doesn't begin a sentence.
  func cell(_ item: BulkItem, isBegun: Bool) -> Message? {
    guard kind == .sessions || kind == .disabling else { return nil }
    switch item.result {
    case nil where !isBegun:
      return kind == .sessions ? Message("sessions to end") : Message("to disable")
    case .removed where kind == .sessions:
      return Message(
        one: "ended {count} session", other: "ended {count} sessions",
        ["count": .number(item.sessions)])
    case .removed where item.sessions == 0: return Message("disabled")
    case .removed:
      return Message("disabled, sessions ended: {count}", ["count": .number(item.sessions)])
    case .some(BulkResult.none):
      return kind == .sessions ? Message("no sessions") : Message("already disabled")
    case .restored: return Message("disabled, then enabled")
    case .restoredBefore: return Message("disabled, then enabled before the undo")
    case .notRestored: return Message("disabled, and changed since")
    case .stopped: return Message("skipped: the action ended early")
    case .failed: return Message("failed: act on this user individually")
    default: return nil
    }
  }

  var toDo: Message? {
    switch kind {
    case .removal: nil
    case .campaign: Message("Eligible")
    case .sessions: Message("Sessions to end")
    case .disabling: Message("To disable")
    }
  }

  /// The name of a result; nil where it's that of any kind.
  func tab(_ result: BulkResult?) -> Message? {
    guard kind == .sessions || kind == .disabling else { return nil }
    switch result {
    case .removed: return kind == .sessions ? Message("Ended") : Message("Disabled")
    case .some(BulkResult.none):
      return kind == .sessions ? Message("No sessions") : Message("Already disabled")
    case .restored: return Message("Enabled")
    case .restoredBefore: return Message("Enabled earlier")
    case .notRestored: return Message("Not enabled")
    default: return nil
    }
  }
}

extension BulkWords {
  /// What ending sessions or disabling does, before it's started.
  func consequences(
    sessions: Int, _ approval: Approval.Cause?, carriesMail: Bool
  ) -> [Message] {
    let days = Message.Value.number(BulkRemovals.daysKept)
    let sentences: [Message?] =
      kind == .sessions
      ? [
        Message(
          one: "{count} session ends.", other: "{count} sessions end.",
          ["count": .number(sessions)]),
        Message("The users can sign in again immediately."),
        carriesMail
          ? Message("Each user is notified by email.")
          : Message("Email isn’t set up. The users won’t be notified."),
        Message("This can’t be undone."),
      ]
      : [
        Message("The users can’t sign in until an administrator enables them again."),
        Message("Their sessions end."),
        Message(
          "For {days} days, all whose account wasn’t changed since can be enabled at once.",
          ["days": days]),
      ]
    return (sentences + [approval.map(ApprovalText.why)]).compactMap(\.self)
  }
}
