import Identity
import Localization
import Templating

enum BulkText {
  static func signIn(_ next: SignInWithoutFactor, _ times: Times) -> Message {
    switch next {
    case .accepted: Message("Until they re-enroll, their first factor alone signs them in.")
    case .enforced(.claim, nil):
      Message(
        """
        Until they re-enroll, their first factor alone signs them in, and the ID tokens of those \
        who have to enroll say so.
        """)
    case .enforced(.claim, let from?):
      Message(
        """
        Until they re-enroll, their first factor alone signs them in. From {time}, the ID tokens \
        of those who have to enroll say so.
        """, ["time": times.value(from)])
    case .enforced(.refuse, nil):
      Message(
        """
        Until they re-enroll, server enforcement refuses sign-ins of users who have to enroll and \
        can be emailed an enrollment link. The others sign in with their first factor alone.
        """)
    case .enforced(.refuse, let from?):
      Message(
        """
        Until they re-enroll, their first factor alone signs them in. From {time}, server \
        enforcement refuses sign-ins of users who have to enroll and can be emailed an enrollment \
        link.
        """, ["time": times.value(from)])
    }
  }

  static func chip(_ state: BulkJob.State, undo: BulkUndo.State? = nil) -> Markup {
    switch undo {
    case .running: return Chip.look(Message("undo running"))
    case .partial: return Chip.look(Message("partly undone"))
    case .done: return Chip.off(Message("undone"))
    case nil: break
    }
    return switch state {
    case .draft: Chip.off(Message("draft"))
    case .waiting: Chip.look(Message("pending approval"))
    case .running: Chip.look(Message("running"))
    case .done: Chip.on(Message("done"))
    case .stopped: Chip.bad(Message("stopped"))
    }
  }

  static func users(_ count: Int) -> Message {
    Message(one: "{count} user", other: "{count} users", ["count": .number(count)])
  }

  /// Returns the result of a line, or what will be removed, for a page.
  static func result(_ item: BulkItem, of job: BulkJob) -> Message {
    if let special = BulkWords(job).result(item) { return special }
    return switch item.result {
    case nil where job.state == .draft || job.state == .waiting: toDo(item, of: job)
    case nil: Message("Queued")
    case .removed where item.sessions == 0:
      Message(
        one: "Removed {count} factor", other: "Removed {count} factors",
        ["count": .number(item.removed)])
    case .removed:
      Message(
        one: "Removed {count} factor, sessions ended: {sessions}",
        other: "Removed {count} factors, sessions ended: {sessions}",
        ["count": .number(item.removed), "sessions": .number(item.sessions)])
    case .some(BulkResult.none): Message("No second factor")
    case .notFound: Message("No user has this email address or UID")
    case .twice: Message("Duplicate of an earlier line")
    case .protected: Message("Protected: actions require the {roles} role", ["roles": roles])
    case .own: Message("The requester’s own account")
    case .locked:
      Message(
        "Changes locked until the user’s report is reviewed (requires the {roles} role)",
        ["roles": roles])
    case .changed: Message("Skipped: a factor was enrolled after the preview")
    case .restored: Message("Removed, then restored")
    case .restoredBefore: Message("Removed, then restored before the undo")
    case .notRestored: Message("Removed, couldn’t be restored")
    case .stopped where job.kind == .campaign: Message("Skipped: the campaign ended early")
    case .stopped: Message("Skipped: the removal ended early")
    case .failed where job.kind == .campaign: Message("Failed: send this user’s link individually")
    case .failed: Message("Failed: remove this user’s factors individually")
    case .sent: Message("Link sent")
    case .unverified, .noEmail, .disabled, .exempt, .enrolled:
      name(item.result, of: job)
    case .notEligible: Message("Can’t be sent a link")
    case .overLimit: Message("Skipped: the hourly limit was reached")
    }
  }

  /// Returns the same for a cell of a removal's file, where it doesn't begin a sentence.
  static func cell(_ item: BulkItem, of job: BulkJob) -> Message {
    if let special = BulkWords(job).cell(item, isBegun: job.startedAt != nil) { return special }
    return switch item.result {
    case nil where job.state == .draft || job.state == .waiting: toDo(item, of: job)
    case nil: Message("queued")
    case .removed where item.sessions == 0:
      Message(
        one: "removed {count} factor", other: "removed {count} factors",
        ["count": .number(item.removed)])
    case .removed:
      Message(
        one: "removed {count} factor, sessions ended: {sessions}",
        other: "removed {count} factors, sessions ended: {sessions}",
        ["count": .number(item.removed), "sessions": .number(item.sessions)])
    case .some(BulkResult.none): Message("no second factor")
    case .notFound: Message("no user has this email address or UID")
    case .twice: Message("duplicate of an earlier line")
    case .protected: Message("protected: actions require the {roles} role", ["roles": roles])
    case .own: Message("the requester’s own account")
    case .locked:
      Message(
        "changes locked until the user’s report is reviewed (requires the {roles} role)",
        ["roles": roles])
    case .changed: Message("skipped: a factor was enrolled after the preview")
    case .restored: Message("removed, then restored")
    case .restoredBefore: Message("removed, then restored before the undo")
    case .notRestored: Message("removed, couldn’t be restored")
    case .stopped: Message("skipped: the removal ended early")
    case .failed: Message("failed: remove this user’s factors individually")
    // A campaign’s file lists its users instead.
    case .sent, .unverified, .noEmail, .disabled, .exempt, .enrolled, .notEligible, .overLimit:
      result(item, of: job)
    }
  }

  static func tab(_ result: BulkResult?, of job: BulkJob, _ count: Int) -> Message {
    Message(
      "{result} ({number})", ["result": .message(name(result, of: job)), "number": .number(count)])
  }

  static func name(_ result: BulkResult?, of job: BulkJob) -> Message {
    let words = BulkWords(job)
    if let special = words.tab(result) { return special }
    return switch result {
    case nil:
      job.state == .draft || job.state == .waiting
        ? words.toDo ?? Message("To remove")
        : Message("Queued")
    case .removed: Message("Removed")
    case .some(BulkResult.none): Message("No second factor")
    case .notFound: Message("Not found")
    case .twice: Message("Duplicate")
    case .protected: Message("Protected")
    case .own: Message("Own account")
    case .locked: Message("Changes locked")
    case .changed: Message("Changed")
    case .restored: Message("Restored")
    case .restoredBefore: Message("Restored earlier")
    case .notRestored: Message("Not restored")
    case .stopped: Message("Skipped")
    case .failed: Message("Failed")
    case .sent: Message("Sent")
    case .unverified: Message("Email not verified")
    case .noEmail: Message("No email")
    case .disabled: Message("Disabled")
    case .exempt: Message("Exempt")
    case .enrolled: Message("Has a second factor")
    case .notEligible: Message("Not eligible")
    case .overLimit: Message("Over the limit")
    }
  }

  private static func toDo(_ item: BulkItem, of job: BulkJob) -> Message {
    BulkWords(job).toDo
      ?? Message(
        one: "{count} factor to remove", other: "{count} factors to remove",
        ["count": .number(item.factors)])
  }

  private static var roles: Message.Value { Permission.protectUsers.roleNames }
}

enum BulkFaults {
  static func faults(
    _ denial: ActionDenial, _ permission: Permission, users: Int, _ times: Times
  ) throws -> [FieldError] {
    try ActionErrorText.faults(
      denial, times, permission,
      confirmation: FieldError(
        field: "number",
        text: Message(
          "Enter {number}, the number of users. This can’t be undone.", ["number": .number(users)])
      ))
  }
}

extension BulkProgress {
  var undoEndingSentence: Message? {
    guard let undo, !undo.isRunning, undone.left > 0 else { return nil }
    return Message(
      one: """
        The undo by {name} ended after {number} of {count} user: permission was revoked, or a \
        backup was restored.
        """,
      other: """
        The undo by {name} ended after {number} of {count} users: permission was revoked, or a \
        backup was restored.
        """,
      [
        "name": .name(undo.administratorName), "number": .number(undone.processed),
        "count": .number(undone.users),
      ])
  }
}

extension BulkJob {
  var endingSentence: Message? {
    switch ending {
    case nil: nil
    case .refused(let name, let answer):
      Message("Refused by {name}: {answer}", ["name": .name(name), "answer": .name(answer)])
    case .withdrawn(let name): Message("Withdrawn by {name}.", ["name": .name(name)])
    case .expired: Message("No one approved it within a day.")
    case .overtaken(let obstacle): obstacle.sentence(requesterName)
    case .stopped(let name): Message("Stopped by {name}.", ["name": .name(name)])
    case .poolDeleted: Message("The user pool was deleted.")
    case .permissionLost: ApprovalObstacle.permissionLost.sentence(requesterName)
    case .restored: Message("A backup was restored.")
    case .text(let text): .verbatim(text)
    }
  }
}
