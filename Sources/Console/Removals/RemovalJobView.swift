import HTTP
import Identity
import Localization
import Templating

struct RemovalDraftView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let job: BulkJob
  let lines: BulkLines
  let eligibility: SupportEligibility
  let approval: Approval.Cause?
  let refusal: Notice?
  let answers: ActionInput
  let number: String
  let carriesMail: Bool
  let signIn: SignInWithoutFactor

  private var removed: Message {
    let factors = Message.Value.number(job.factors)
    return job.users == 1
      ? Message(
        one: "{count} second factor is removed, the only one this user has.",
        other: "All {count} second factors of this user are removed.", ["count": factors])
      : Message(
        one: "All second factors of {count} user are removed ({factors} in total).",
        other: "All second factors of {count} users are removed ({factors} in total).",
        ["count": .number(job.users), "factors": factors])
  }

  private var consequences: [Message] {
    guard job.kind == .removal else {
      return BulkWords(job).consequences(sessions: job.factors, approval, carriesMail: carriesMail)
    }
    let hours = eligibility.settings.undoHours
    var sentences = [
      removed,
      carriesMail
        ? Message("Their sessions end, and each user is notified by email.")
        : Message("Their sessions end. Email isn’t set up. The users won’t be notified."),
      BulkText.signIn(signIn, frame.times),
      hours == 0
        ? Message("This can’t be undone.")
        : undoing(within: .message(Formatted.duration(seconds: hours * 3_600))),
    ]
    if let approval { sentences.append(ApprovalText.need(approval)) }
    return sentences
  }

  private func undoing(within period: Message.Value) -> Message {
    eligibility.settings.callerVerification == .required
      ? Message(
        """
        For {period}, only another administrator can undo the removal, on each user’s page, and \
        not if the reason is “Stolen device” or “Compromised”.
        """, ["period": period])
      : Message(
        """
        For {period}, only another administrator can undo the removal, for all users at once, \
        and not if the reason is “Stolen device” or “Compromised”.
        """, ["period": period])
  }

  private var action: String { ConsolePaths.bulkRemoval(context.pool, String(job.id)) }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .flag("hasUsers") { $0.job.users > 0 },
    .text("question") { BulkWords($0.job).question },
    .text("notYet") { BulkWords($0.job).notYet },
    .text("nobody") { BulkWords($0.job).nobody },
    .flag("isRemoval") { $0.job.kind == .removal },
    .optional("refusal") { view in view.job.users > 0 ? view.refusal : nil },
    .optional("form") { view -> SupportForm? in
      guard view.refusal == nil, view.job.users > 0 else { return nil }
      return SupportForm(
        frame: view.frame, eligibility: view.eligibility, answers: view.answers,
        action: view.action, reasons: view.job.kind.single.reasons)
    },
    .text("action") { $0.action },
    .texts("consequences") { $0.consequences },
    .flag("asksForNumber") { $0.job.asksForNumber(.stolen, $0.eligibility.settings) },
    .flag("isAlwaysFinal") { $0.eligibility.settings.undoHours == 0 },
    .text("numberLabel") {
      Message("Enter the number of users, {number}", ["number": .number($0.job.users)])
    },
    .text(\.number),
    .text("numberError") { $0.frame.error(at: "number") },
    .text("button") { view in
      view.approval == nil ? BulkWords(view.job).act : Message("Request approval")
    },
    .text("back") { view in
      view.job.kind == .removal
        ? ConsolePaths.removals(view.context.pool) : ConsolePaths.users(view.context.pool)
    },
    .object(\.lines),
  ]
}

struct RemovalJobView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let progress: BulkProgress
  let lines: BulkLines
  let approval: Approval?
  let undoByOthers: OtherAdministratorsView?

  private var job: BulkJob { progress.job }

  private var figures: [Figure] {
    let undone =
      progress.undo == nil ? [] : Self.figures(of: progress.undone, enables: job.kind == .disabling)
    let figures = Self.figures(
      done: job.usersDone, of: job.users, removed: job.usersRemoved, factors: job.factorsRemoved,
      sessions: job.sessionsEnded)
    return job.kind == .removal ? figures + undone : [figures[0], figures[2]] + undone
  }

  static func figures(
    done: Int, of users: Int, removed: Int, factors: Int, sessions: Int
  ) -> [Figure] {
    let base = Message(
      one: "from {count} user", other: "from {count} users", ["count": .number(removed)])
    return [
      Figure(
        label: Message("Users processed"), value: Message.value(.number(done)),
        base: Message("of {number}", ["number": .number(users)])),
      Figure(
        label: Message("Factors removed"), value: Message.value(.number(factors)),
        base: base),
      Figure(
        label: Message("Sessions ended"), value: Message.value(.number(sessions)),
        base: base),
    ]
  }

  static func figures(of undone: BulkUndo.Counts, enables: Bool = false) -> [Figure] {
    let base = Message("of {number}", ["number": .number(undone.users)])
    func figure(_ label: Message, _ users: Int) -> Figure {
      Figure(label: label, value: Message.value(.number(users)), base: base)
    }
    var figures = [
      figure(enables ? Message("Users enabled") : Message("Users restored"), undone.restored)
    ]
    if undone.restoredBefore > 0 {
      figures.append(
        figure(
          enables ? Message("Enabled earlier") : Message("Restored earlier"), undone.restoredBefore)
      )
    }
    if undone.notRestored > 0 {
      figures.append(
        figure(
          enables ? Message("Not enabled") : Message("Couldn’t be restored"), undone.notRestored))
    }
    return figures
  }

  private var facts: [Fact] {
    let times = frame.times
    var facts = [
      Fact(
        job.state == .waiting ? Message("Requested by") : Message("Started by"),
        HTML.isolated(job.requesterName)),
      Fact(Message("Reason"), job.reason?.name ?? Message("none")),
    ]
    facts.add(Message("Ticket"), text: job.ticket)
    facts.add(Message("Note"), text: job.note)
    for line in job.proof.split(separator: "\n") {
      facts.append(Fact(Message("Identity check"), HTML.isolated(String(line))))
    }
    facts.add(Message("Approved by"), job.approverName.map(HTML.isolated))
    facts.append(Fact(Message("Created"), times.past(job.createdAt)))
    facts.add(Message("Started"), job.startedAt.map(times.past))
    facts.add(Message("Ended"), job.endedAt.map(times.past))
    if let undo = progress.undo {
      facts.append(Fact(Message("Undone by"), HTML.isolated(undo.administratorName)))
      facts.append(Fact(Message("Undo started"), times.past(undo.startedAt)))
    }
    return facts
  }

  private var isOwn: Bool { job.requester == context.signedIn.administrator.id }

  /// Whether the administrator can undo it: others can undo a removal, and anyone a disabling.
  private var mayUndo: Bool {
    guard progress.canUndo, let single = job.kind.undo else { return false }
    return context.may(single.requirements.permission) && (job.kind == .disabling || !isOwn)
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { BulkWords($0.job).name },
    .text("waiting") { BulkWords($0.job).waiting },
    .text("leaving") { view in
      view.progress.isBeingUndone ? BulkWords(view.job).leavingUndo : BulkWords(view.job).leaving
    },
    .text("stop") { BulkWords($0.job).stop },
    .text("unreverted") { BulkWords($0.job).unreverted },
    .number("id") { Int($0.job.id) },
    .markup("state") { BulkText.chip($0.progress.job.state, undo: $0.progress.undoState) },
    .text("undo") {
      $0.mayUndo
        ? ConsolePaths.undoOfBulkRemoval($0.context.pool, String($0.job.id)) : nil
    },
    .number("count") { $0.progress.undoable },
    .optional(\.undoByOthers),
    .text("undoEnding") { $0.progress.undoEndingSentence },
    .flag("undoRequiresCaller") { $0.progress.undoable > 0 && $0.progress.requiresCaller },
    .text("ending") { $0.job.endingSentence },
    .flag("isWaiting") { $0.job.state == .waiting },
    .optional("approval") { view in
      view.approval.map {
        Link(text: Message("View request"), href: $0.address)
      }
    },
    .flag("isRunning") { $0.progress.isRunning },
    .flag("mayStop") { $0.job.state == .running && $0.context.may($0.job.kind.permission) },
    .object("refresh") { $0.lines.refresh },
    .markup("share") { view in
      view.progress.isBeingUndone
        ? Meter.share(view.progress.undone.processed, of: view.progress.undone.users)
        : Meter.share(view.job.usersDone, of: view.job.users)
    },
    .list("figures") { $0.figures },
    .text("end") { ConsolePaths.endOfRemoval($0.context.pool, String($0.job.id)) },
    .list("facts") { $0.facts },
    .text("file") { ConsolePaths.removalFile($0.context.pool, String($0.job.id)) },
    .object(\.lines),
  ]
}
