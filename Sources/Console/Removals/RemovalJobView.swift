import HTTP
import Identity
import Templating

/// The preview of a bulk removal, with the form to run it.
struct RemovalDraftView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let job: BulkJob
  let lines: BulkLines
  let standing: SupportEligibility
  let approval: Approval.Cause?
  let refusal: SupportRefusal?
  let answers: ActionInput
  let number: String
  let carriesMail: Bool

  private var users: String { Words.count(job.users, "user", "users") }

  private var consequences: [String] {
    let hours = standing.settings.undoHours
    return [
      "\(Words.count(job.factors, "second factor is", "second factors are")) removed: all that \(job.users == 1 ? "this user has" : "these \(users) have").",
      carriesMail
        ? "Their sessions end, and an email notifies each user."
        : "Their sessions end. Email isn’t configured, so users aren’t notified.",
      "Until they enroll again, they can sign in with a first factor only.",
      hours == 0
        ? "This can’t be undone."
        : "For \(Words.duration(seconds: hours * 3_600)), another administrator can undo the removal for each user, unless the reason is “Stolen device” or “Compromised”.",
      approval.map(ApprovalWords.need),
    ].compactMap { $0 }
  }

  /// Whether the form has a field to confirm the number of users.
  private var asksForNumber: Bool {
    job.asksForNumber(.stolen, standing.settings)
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("users") { $0.users },
    .flag("hasUsers") { $0.job.users > 0 },
    .optional("refusal") { view in view.job.users > 0 ? view.refusal : nil },
    .optional("form") { view -> SupportForm? in
      guard view.refusal == nil, view.job.users > 0 else { return nil }
      return SupportForm(frame: view.frame, standing: view.standing, answers: view.answers)
    },
    .text("action") { ConsolePaths.bulkRemoval($0.context.scope, String($0.job.id)) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .texts("consequences") { $0.consequences },
    .flag("asksForNumber") { $0.asksForNumber },
    .flag("isAlwaysFinal") { $0.standing.settings.undoHours == 0 },
    .text("userCount") { Words.number($0.job.users) },
    .text("number") { $0.number },
    .text("numberError") { $0.frame.error(at: "number") },
    .text("button") { view in
      view.approval == nil
        ? "Remove factors of \(view.users)" : "Request approval"
    },
    .text("back") { ConsolePaths.removals($0.context.scope) },
    .object("lines") { $0.lines },
  ]
}

/// The progress of a bulk removal and the result of each line.
struct RemovalJobView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let job: BulkJob
  let lines: BulkLines
  let approval: Approval?
  /// Whether automatic refresh is off.
  let isStill: Bool

  private var path: String { ConsolePaths.bulkRemoval(context.scope, String(job.id)) }

  private var figures: [Figure] {
    let base = "of \(Words.count(job.usersRemoved, "user", "users"))"
    return [
      Figure(
        label: "Users processed", value: Words.number(job.usersDone),
        base: "of \(Words.number(job.users))"),
      Figure(
        label: "Factors removed", value: Words.number(job.factorsRemoved), base: base),
      Figure(label: "Sessions ended", value: Words.number(job.sessionsEnded), base: base),
    ]
  }

  private var facts: [Fact] {
    let times = frame.times
    var facts = [
      Fact(
        job.state == .waiting ? "Requested by" : "Started by", HTML.isolated(job.requesterName)),
      Fact("Reason", job.reason?.name ?? "none"),
    ]
    if !job.ticket.isEmpty { facts.append(Fact("Ticket", HTML.isolated(job.ticket))) }
    if !job.note.isEmpty { facts.append(Fact("Note", HTML.isolated(job.note))) }
    for line in job.proof.split(separator: "\n") {
      facts.append(Fact("Identity check", HTML.isolated(String(line))))
    }
    if let name = job.approverName { facts.append(Fact("Approved by", HTML.isolated(name))) }
    facts.append(Fact("Created", times.moment(job.createdAt)))
    if let at = job.startedAt { facts.append(Fact("Started", times.moment(at))) }
    if let at = job.endedAt { facts.append(Fact("Ended", times.moment(at))) }
    return facts
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("users") { Words.count($0.job.users, "user", "users") },
    .number("id") { Int($0.job.id) },
    .markup("state") { BulkWords.chip($0.job.state) },
    .text("ending") { $0.job.endingSentence },
    .flag("isWaiting") { $0.job.state == .waiting },
    .optional("approval") { view in
      view.approval.map {
        Link(
          text: "View request", href: $0.address)
      }
    },
    .flag("isRunning") { $0.job.state == .running },
    .flag("isStill") { $0.isStill },
    .number("pause") { _ in RemovalJobPage.pause },
    .text("still") { $0.path + "?still" },
    .text("moving") { $0.path },
    .markup("share") { Meter.share($0.job.usersDone, of: $0.job.users) },
    .list("figures") { $0.figures },
    .text("end") { ConsolePaths.endOfRemoval($0.context.scope, String($0.job.id)) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .list("facts") { $0.facts },
    .text("file") { ConsolePaths.removalFile($0.context.scope, String($0.job.id)) },
    .object("lines") { $0.lines },
  ]
}
